"""Makes two tables in the style of UCI's Adult (census income): adult_old.csv, and
adult_new.csv of later years, in which more people earn above 50K, all are older and work
less. The same on every machine."""

import csv
import random

WORK = {"Private": 0.70, "Self-emp-not-inc": 0.08, "Local-gov": 0.07, "State-gov": 0.04, "Federal-gov": 0.03, "?": 0.08}
EDUCATION = {  # name, years, share of those who earn less and more
    "11th": (7, 0.13, 0.02), "HS-grad": (9, 0.36, 0.20), "Some-college": (10, 0.25, 0.18), "Bachelors": (13, 0.16, 0.35),
    "Masters": (14, 0.07, 0.16), "Prof-school": (15, 0.02, 0.06), "Doctorate": (16, 0.01, 0.03),
}
STATUS = {"Married-civ-spouse": (0.34, 0.85), "Never-married": (0.41, 0.07), "Divorced": (0.16, 0.06), "Widowed": (0.09, 0.02)}
COUNTRY = {"United-States": 0.90, "Mexico": 0.05, "?": 0.02, "Philippines": 0.02, "Germany": 0.01}


def people(file, rows, rich_share, older, hours_less, seed):
    rng = random.Random(seed)

    def draw(shares):
        return rng.choices(list(shares), list(shares.values()))[0]

    with open(file, "w", newline="") as out:
        table = csv.writer(out)
        table.writerow(["age", "workclass", "education", "education-num", "marital-status", "capital-gain", "hours-per-week", "native-country", "income"])
        for _ in range(rows):
            rich = rng.random() < rich_share
            education = draw({name: more if rich else less for name, (_, less, more) in EDUCATION.items()})
            age = min(max(round(rng.gauss(44 if rich else 36, 11) + older), 17), 90)
            gain = round(rng.lognormvariate(9, 0.6)) if rng.random() < (0.22 if rich else 0.03) else 0
            hours = min(max(round(rng.gauss(45 if rich else 38, 10) - hours_less), 1), 99)
            status = draw({name: more if rich else less for name, (less, more) in STATUS.items()})
            table.writerow([age, draw(WORK), education, EDUCATION[education][0], status, gain, hours, draw(COUNTRY), ">50K" if rich else "<=50K"])


people("adult_old.csv", 3000, 0.24, 0, 0, 1)
people("adult_new.csv", 2000, 0.45, 4, 3, 2)
