"""The rows of one comparison, in memory and in the files of a folder."""
import csv

import contests
import tables
import turns

FLOOR_FIELDS = ("contest", "name", "precision", "kernel", "calls", "kernel_s",
                "batch")
MACHINE_FIELDS = ("name", "value")


class Stop(Exception):
    """Ends the program: exit status and words."""


def read_rows(path, needed):
    """Rows by column name; none where there is no file."""
    try:
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
    except FileNotFoundError:
        return []
    except (OSError, UnicodeError, csv.Error) as error:
        raise Stop(5, f"{path}: {error}") from None
    for number, row in enumerate(rows, 1):
        if None in row or None in [row.get(name) for name in needed]:
            raise Stop(5, f"{path}: row {number} has too few cells or too "
                          f"many; expected {','.join(needed)}")
    return rows


def add_row(path, fields, row):
    """At the end of a file, whose head is written with the first."""
    try:
        new = not path.exists() or not path.stat().st_size
        with open(path, "a", newline="") as file:
            out = csv.DictWriter(file, fields, lineterminator="\n",
                                 extrasaction="ignore")
            if new:
                out.writeheader()
            out.writerow(row)
    except OSError as error:
        raise Stop(7, f"{path}: {error.strerror}") from None


class Folder:
    def __init__(self, path, adding):
        self.path = path
        self.rows = read_rows(path / "turns.csv", turns.FIELDS)
        self.floors = read_rows(path / "floor.csv", FLOOR_FIELDS)
        self.machine = {row["name"]: row["value"] for row in read_rows(
            path / "machine.csv", MACHINE_FIELDS)}
        self.check_numbers()
        if self.rows and not adding:
            raise Stop(2, f"{path} holds a comparison; --add goes on with it")

    def check_numbers(self):
        for name, rows, column in (("turns.csv", self.rows, "images_per_s"),
                                   ("floor.csv", self.floors, "kernel_s")):
            for number, row in enumerate(rows, 1):
                try:
                    good = row.get("status", "ok") != "ok" or \
                        float(row[column]) > 0
                except ValueError:
                    good = False
                if not good:
                    raise Stop(5, f"{self.path / name}: row {number}: "
                                  f"{column} is '{row[column]}', "
                                  f"not a number above 0")

    def begin(self, machine):
        """Of what machine it is; rows of two do not go into one folder."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Stop(7, f"{self.path}: {error.strerror}") from None
        for name, value in machine.items():
            if self.machine.get(name, value) != value:
                raise Stop(5, f"{self.path} has {self.machine[name]} as "
                              f"{name}, and this is {value}")
        for name, value in machine.items():
            if name not in self.machine:
                add_row(self.path / "machine.csv", MACHINE_FIELDS,
                        {"name": name, "value": value})
                self.machine[name] = value

    def add(self, row):
        """All cells are text, as when they are read again."""
        self.rows.append({name: str(value) for name, value in row.items()})
        add_row(self.path / "turns.csv", turns.FIELDS, self.rows[-1])

    def add_floor(self, row):
        self.floors.append({name: str(value) for name, value in row.items()})
        add_row(self.path / "floor.csv", FLOOR_FIELDS, self.floors[-1])

    def work(self):
        """Older folders say nothing of batch and size."""
        model = self.machine.get("model", "mnist")
        if model not in contests.MODELS:
            raise Stop(5, f"{self.path / 'machine.csv'}: model is '{model}', "
                          f"expected {', '.join(contests.MODELS)}")
        numbers = [self.machine.get(name, "") for name in
                   ("batch", "image_size")]
        return contests.Work(model, *(int(text) if text.isdecimal() else 0
                                      for text in numbers))

    def print(self, file):
        """What was found, without the quick pass and single kernels."""
        print(tables.turns_table(self.rows, self.work()) or
              "nothing was measured",
              tables.floor_text(self.rows, self.floors, self.work()),
              sep="\n", end="", file=file)

    def save_tables(self):
        path = self.path / "tables.md"
        try:
            path.write_text(tables.page(self.rows, self.floors, self.machine,
                                        self.work()))
        except OSError as error:
            raise Stop(7, f"{path}: {error.strerror}") from None
