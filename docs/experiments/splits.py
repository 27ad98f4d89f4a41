"""Makes tasks of tables that are split by a column of their own.

usage: splits.py RDATASETS DATASETS FOLDER

RDATASETS and DATASETS are check-outs of github.com/vincentarelbundock/Rdatasets and
github.com/jbrownlee/Datasets (data.py fetches them). Each task is a published table: rows of one kind, such as one
sex, region or year, are the source, and rows of another are the target. The column that
says so is left out, and so are names of rows and what gives the label away. FOLDER gets what
tasks.py reads, and plain.csv: accuracies of classifiers that are trained on the source
alone. Text becomes one column for each of its values by mars featurize. Needs NumPy, pandas,
pyarrow and scikit-learn, and bin/ on the PATH.
"""

import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa

ROWS = 1_500  # of a domain, at most
LEAST = 60  # of a domain
CLASS = 5  # rows of a class in the source, at least


def thirds(column: pd.Series, parts: int = 3) -> pd.Series:
    """Quantile groups of a number, as names."""
    names = [f"q{i}" for i in range(parts)]
    return pd.qcut(column, parts, labels=names, duplicates="drop").astype(str)


def sides(table: pd.DataFrame, label: str, source, target, drop: list[str], rows: int = ROWS):
    """The source and the target, both with labels; None if there are too few rows."""
    table = table.drop(columns=[c for c in ["rownames", *drop] if c in table])
    rng = np.random.default_rng(0)

    def some(of):
        index = np.flatnonzero(np.asarray(of) & table[label].notna().to_numpy())
        return table.iloc[rng.permutation(index)[:rows]]

    a, b = some(source), some(target)
    counts = a[label].value_counts()
    kept = counts[counts >= CLASS].index
    a, b = a[a[label].isin(kept)], b[b[label].isin(kept)]
    return (a, b) if min(len(a), len(b)) >= LEAST and len(kept) > 1 else None


def tasks(read, old):
    """Yields family, name, label and the two sides."""

    def put(name, d, label, source, target, drop=(), rows=ROWS):
        pair = sides(d, label, source, target, list(drop), rows)
        if pair is not None:
            yield name, label, *pair

    def both(name, d, label, of, drop=(), rows=ROWS):
        of = np.asarray(of)
        yield from put(name + "-a", d, label, of, ~of, drop, rows)
        yield from put(name + "-b", d, label, ~of, of, drop, rows)

    d = read("ISLR/Wage")
    d["pay"] = thirds(d.wage)
    given = ["wage", "logwage", "region"]
    yield from put("wage_year", d, "pay", d.year <= 2004, d.year >= 2008, [*given, "year"])
    yield from both("wage_job", d, "pay", d.jobclass.str.startswith("1"), [*given, "jobclass"])
    d = read("modeldata/attrition")
    yield from both("attrition", d, "Attrition", d.Department == "Research_Development", ["Department", "JobRole"])
    d = read("modeldata/mlc_churn")
    yield from both("mlcchurn", d, "churn", d.international_plan == "no", ["international_plan", "state"])
    d = read("modeldata/wa_churn")
    yield from both("wachurn_net", d, "churn", d.internet_service == "DSL", ["internet_service"])
    yield from both("wachurn_tenure", d, "churn", d.tenure < 24, ["tenure", "total_charges"])
    d = read("modeldata/credit_data")
    yield from both("credit_home", d, "Status", d.Home == "owner", ["Home"])
    yield from put("credit_age", d, "Status", d.Age < 30, d.Age > 45, ["Age"])
    d = read("modeldata/stackoverflow")
    yield from put("stack", d, "OpenSource", d.Country == "United States", d.Country == "Germany", ["Country"])
    d = read("modeldata/lending_club")
    d["grade"] = d.sub_grade.str[0]
    yield from put("lending", d, "grade", d.term == "term_36", d.term == "term_60", ["term", "sub_grade", "Class"])
    d = read("modeldata/cat_adoption")
    yield from both("cats", d, "event", d.sex == "male", ["sex", "time"])
    d = read("modeldata/hpc_data")
    yield from both("hpc", d, "class", d.day.isin(["Fri", "Sat", "Sun"]), ["day"])
    d = read("survival/colon")
    d = d[d.etype == 2]
    yield from both("colon", d, "status", d.rx == "Obs", ["id", "study", "rx", "time", "etype"])
    d = read("survival/flchain")
    yield from both("flchain_sex", d, "death", d.sex == "F", ["sex", "futime", "chapter"])
    yield from put("flchain_age", d, "death", d.age < 65, d.age >= 75, ["age", "futime", "chapter"])
    d = read("medicaldata/covid_testing")
    d = d[d.result != "invalid"]
    named = ["subject_id", "fake_first_name", "fake_last_name", "test_id", "ct_result", "clinic_name", "demo_group"]
    yield from put("covid", d, "result", d.demo_group == "patient", d.demo_group != "patient", named)
    d = read("Stat2Data/Hawks")
    named = ["CaptureTime", "ReleaseTime", "BandNumber", "Day"]
    yield from both("hawks_age", d, "Species", d.Age == "I", [*named, "Age"])
    yield from put("hawks_year", d, "Species", d.Year < 1998, d.Year >= 1998, [*named, "Year"])
    d = read("palmerpenguins/penguins")
    yield from both("penguins", d, "species", d.sex == "male", ["sex", "island"])
    d = read("AER/HMDA")
    yield from both("hmda", d, "deny", d.single == "yes", ["single"])
    d = read("AER/CreditCard")
    yield from both("card", d, "card", d.owner == "yes", ["owner", "share", "expenditure"])
    d = read("AER/SmokeBan")
    yield from both("smoke", d, "smoker", d.gender == "female", ["gender"])
    d = read("AER/HealthInsurance")
    yield from both("insurance", d, "insurance", d.region == "south", ["region"])
    d = read("carData/Chile")
    d = d[d.vote.isin(["Y", "N"])]
    yield from put("chile", d, "vote", d.region == "SA", d.region != "SA", ["region"])
    d = read("carData/Arrests")
    yield from both("arrests", d, "released", d.colour == "White", ["colour"])
    d = read("carData/WVS")
    yield from put("wvs_us", d, "poverty", d.country == "Australia", d.country == "USA", ["country"])
    yield from put("wvs_no", d, "poverty", d.country == "Sweden", d.country == "Norway", ["country"])
    d = read("openintro/email")
    early = pd.to_datetime(d.time).rank() < len(d) / 2
    yield from put("email_time", d, "number", early, ~early, ["time"])
    yield from put("email_form", d, "spam", d.format == 1, d.format == 0, ["time", "format"])
    d = read("openintro/loans_full_schema")
    named = ["emp_title", "homeownership", "sub_grade", "interest_rate", "issue_month", "initial_listing_status", "installment"]
    yield from put("loans", d, "grade", d.homeownership == "MORTGAGE", d.homeownership == "RENT", named)
    d = read("openintro/yrbss")
    d["active"] = np.where(d.physically_active_7d.isna(), None, np.where(d.physically_active_7d > 4, "yes", "no"))
    hours = {"<5": 4, "10+": 10}
    d["school_night_hours_sleep"] = pd.to_numeric(d.school_night_hours_sleep.replace(hours))
    yield from both("yrbss_sex", d, "grade", d.gender == "male", ["gender", "active"])
    yield from put("yrbss_age", d, "active", d.age <= 15, d.age >= 17, ["age", "grade", "physically_active_7d"])
    d = read("openintro/nycflights")
    d["late"] = np.where(d.arr_delay > 15, "late", "ok")
    named = ["year", "arr_delay", "tailnum", "flight", "dep_delay"]
    yield from put("flights_month", d, "late", d.month <= 4, d.month >= 9, [*named, "arr_time", "month"])
    yield from both("flights_from", d, "late", d.origin == "EWR", [*named, "origin"])
    d = read("dplyr/storms")
    d = d[d.status.isin(["hurricane", "tropical storm", "tropical depression", "extratropical"])]
    named = ["name", "year", "category", "tropicalstorm_force_diameter", "hurricane_force_diameter", "day"]
    yield from put("storms_year", d, "status", d.year < 1995, d.year > 2012, named)
    yield from both("storms_month", d, "status", d.month <= 8, [*named, "month"])
    d = read("ratdat/complete")
    d = d[d.taxa == "Rodent"]
    d = d[d.species_id.isin(d.species_id.value_counts().head(10).index)]
    named = ["record_id", "genus", "species", "taxa", "day"]
    yield from both("rats_sex", d, "species_id", d.sex == "M", [*named, "sex"])
    yield from put("rats_year", d, "species_id", d.year < 1985, d.year > 1995, [*named, "year"])
    fence = ["plot_type", "plot_id"]
    yield from put("rats_plot", d, "species_id", d.plot_type == "Control", d.plot_type == "Rodent Exclosure", [*named, *fence])
    d = read("MLDataR/thyroid_disease")
    yield from both("thyroid", d, "ThryroidClass", d.patient_gender == 1, ["patient_gender", "sick"])
    d = read("MLDataR/stroke_classification")
    yield from put("stroke", d, "stroke", d.age < 60, d.age >= 60, ["pat_id", "age"], 4_000)
    d = read("bayesrules/coffee_ratings")
    d = d[d.processing_method.isin(["Washed / Wet", "Natural / Dry"])]
    near = d.country_of_origin.isin(["Mexico", "Guatemala", "Honduras", "Costa Rica", "Colombia"])
    named = ["owner", "farm_name", "mill", "in_country_partner", "country_of_origin", "variety", "bag_weight"]
    yield from put("coffee", d, "processing_method", near, ~near, named)
    d = read("bayesrules/hotel_bookings")
    named = ["hotel", "reservation_status", "reservation_status_date", "country", "agent", "company"]
    yield from both("hotel", d, "is_canceled", d.hotel == "City Hotel", named)
    d = read("bayesrules/airbnb")
    d = d[d.room_type != "Shared room"]
    yield from both("airbnb", d, "room_type", d.district == "North", ["district", "neighborhood"])
    d = read("bayesrules/climbers_sub")
    named = ["expedition_id", "member_id", "peak_id", "peak_name", "highpoint_metres", "death_cause", "died", "death_height_metres"]
    named += ["injured", "injury_type", "injury_height_metres", "citizenship", "expedition_role", "solo"]
    yield from put("climbers_year", d, "success", d.year < 2005, d.year >= 2010, [*named, "year"])
    yield from both("climbers_season", d, "success", d.season == "Spring", [*named, "season"])
    d = read("bayesrules/weather_perth")
    summer = d.month.isin(["Nov", "Dec", "Jan", "Feb", "Mar", "Apr"])
    yield from both("perth", d, "raintomorrow", summer, ["risk_mm", "month", "day_of_year"])
    d = read("bayesrules/spotify")
    named = ["track_id", "title", "artist", "album_id", "album_name", "album_release_date", "playlist_name", "playlist_id", "subgenre"]
    yield from put("spotify", d, "genre", d["mode"] == 1, d["mode"] == 0, [*named, "mode"])
    d = read("DAAG/nassCDS")
    d["hurt"] = np.where(d.injSeverity >= 3, "yes", "no")
    named = ["weight", "dead", "injSeverity", "caseid", "abcat", "yearacc"]
    yield from put("crash_year", d, "hurt", d.yearVeh < 1990, d.yearVeh >= 1998, [*named, "yearVeh"])
    yield from both("crash_sex", d, "hurt", d.sex == "m", [*named, "sex"])
    d = read("DAAG/monica")
    yield from both("monica", d, "outcome", d.sex == "m", ["sex"])
    d = read("wooldridge/loanapp")
    yield from both("loanapp", d, "approve", (d.black == 0) & (d.hispan == 0), ["action", "reject", "black", "hispan", "white"])
    d = read("mosaicData/SaratogaHouses")
    d["cost"] = thirds(d.price)
    yield from put("saratoga_fuel", d, "cost", d.fuel == "gas", d.fuel != "gas", ["price", "fuel"])
    yield from both("saratoga_air", d, "heating", d.centralAir == "Yes", ["centralAir", "cost"])
    d = read("psych/bfi")
    yield from both("bfi_school", d, "gender", d.education >= 4, ["education"])
    yield from put("bfi_age", d, "gender", d.age < 22, d.age > 35, ["age"])
    d = read("survival/nwtco")
    yield from both("nwtco", d, "rel", d.study == 3, ["seqno", "edrel", "study", "in.subcohort"], 2_200)
    d = read("survival/rotterdam")
    named = ["pid", "rtime", "dtime", "death"]
    yield from put("rotterdam_year", d, "recur", d.year < 1987, d.year >= 1989, [*named, "year"])
    yield from both("rotterdam_meno", d, "recur", d.meno == 0, [*named, "meno"])
    d = read("AER/CPS1988")
    d["pay"] = thirds(d.wage)
    yield from put("cps_region", d, "pay", d.region == "south", d.region == "west", ["wage", "region"])
    yield from put("cps_group", d, "pay", d.ethnicity == "cauc", d.ethnicity == "afam", ["wage", "ethnicity"])
    d = read("AER/DoctorVisits")
    d["seen"] = np.where(d.visits > 0, "yes", "no")
    yield from both("doctor", d, "seen", d.gender == "female", ["visits", "gender"])
    d = read("causaldata/nhefs_complete")
    named = ["seqn", "yrdth", "modth", "dadth", "wt82", "wt82_71", "smkintensity82_71", "death"]
    yield from both("nhefs", d, "qsmk", d.sex == 1, [*named, "sex"])
    d = read("NeuroDataSets/migraine_treatment_df")
    yield from both("migraine", d, "headache", d.hatype == "Aura", ["id", "hatype", "dos"])
    d = read("modeldata/taxi")
    yield from put("taxi", d, "company", d.month.isin(["Jan", "Feb"]), d.month == "Apr", ["month"])
    d = read("modeldata/Sacramento")
    d["cost"] = thirds(d.price)
    yield from both("sacramento", d, "cost", d.city == "SACRAMENTO", ["price", "city", "zip"])
    d = read("openintro/acs12")
    d = d[d.age >= 18]
    yield from both("acs", d, "employment", d.gender == "male", ["gender", "hrs_work", "time_to_work", "income"])
    d = read("ISLR/OJ")
    yield from both("juice", d, "Purchase", d.Store7 == "Yes", ["Store7", "StoreID", "STORE"])
    d = read("mlmRev/guImmun")
    yield from both("immun", d, "immun", d.rural == "Y", ["rural", "kid", "mom", "comm"])
    d = read("openintro/ames")
    d["cost"] = thirds(d.price)
    named = ["price", "Order", "PID"]
    built = d["Year.Built"]
    yield from put("ames_year", d, "cost", built < 1965, built >= 1990, [*named, "Year.Built", "Garage.Yr.Blt"])
    style = d["House.Style"]
    yield from put("ames_style", d, "cost", style == "1Story", style == "2Story", [*named, "House.Style"])
    d = read("sampleSelection/nlswork")
    d["pay"] = thirds(d.ln_wage)
    yield from put("nls_year", d, "pay", d.year <= 72, d.year >= 85, ["idcode", "year", "ln_wage", "birth_yr", "age"])
    yield from put("nls_race", d, "collgrad", d.race == 1, d.race == 2, ["idcode", "race", "grade"])
    d = read("wooldridge/fertil2")
    yield from both("fertility", d, "usemeth", d.urban == 1, ["urban", "urb_educ"])
    d = read("mstate/ebmt4")
    named = ["id", "rec", "rec.s", "ae", "recae", "recae.s", "rel", "srv"]
    yield from put("ebmt", d, "srv.s", d.year == "1985-1989", d.year == "1995-1998", [*named, "year"])
    d = read("ggplot2/diamonds")
    d["worth"] = thirds(d.price, 4)
    yield from put("diamonds_color", d, "worth", d.color.isin(["D", "E"]), d.color.isin(["I", "J"]), ["price", "color"])
    clear = ["VVS1", "VVS2", "IF"]
    yield from put("diamonds_clarity", d, "cut", d.clarity.isin(["SI1", "SI2"]), d.clarity.isin(clear), ["clarity"])
    d = old("german.csv")
    yield from both("german", d, "v20", d.v8.astype(str).str.contains("A92"), ["v8"])
    d = old("pima-indians-diabetes.csv")
    yield from both("pima_age", d, "v8", d.v7 < 30, ["v7"])
    yield from both("pima_births", d, "v8", d.v0 < 3, ["v0"])
    d = old("abalone.csv")
    d["age"] = thirds(d.v8)
    yield from put("abalone_sex", d, "age", d.v0 == "M", d.v0 == "F", ["v0", "v8"])
    yield from put("abalone_infant", d, "age", d.v0 != "I", d.v0 == "I", ["v0", "v8"])
    d = old("adult-train.csv")
    yield from both("adult_sex", d, "v14", d.v9 == "Male", ["v9", "v7", "v2"])
    yield from put("adult_age", d, "v14", d.v0 < 35, d.v0 >= 50, ["v0", "v2"])
    yield from both("adult_private", d, "v14", d.v1 == "Private", ["v1", "v2"])
    d = old("phoneme.csv")
    yield from both("phoneme", d, "v5", d.v0 < d.v0.median(), ["v0"])


def features(label: str, source: pd.DataFrame, target: pd.DataFrame):
    """What mars featurize makes of the two sides, and labels as numbers."""
    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder)
        source.to_csv(at / "source.csv", index=False)
        target.drop(columns=label).to_csv(at / "target.csv", index=False)
        files = ["--source", at / "source.csv", "--target", at / "target.csv", "--label", label]
        subprocess.run(["mars", "featurize", "-q", *files, "-o", at / "rows.arrow"], check=True)
        rows = pa.ipc.open_file(at / "rows.arrow").read_all()
    ours = np.asarray([d == "source" for d in rows["domain"].to_pylist()])
    x = rows["features"].combine_chunks()
    x = np.asarray(x.flatten()).reshape(len(rows), -1)
    classes = {as_number(c): k for k, c in enumerate(json.loads(rows.schema.metadata[b"mars.classes"]))}
    ys = np.asarray(rows["label"].to_pylist())[ours].astype(int)
    yt = np.asarray([classes[as_number(v)] for v in target[label]])
    return x[ours], ys, x[~ours], yt


def as_number(value) -> str:
    """1, 1.0 and "1" are one class."""
    try:
        return str(float(str(value)))
    except ValueError:
        return str(value).strip()


def plain(xs, ys, xt, yt) -> dict[str, float]:
    """Accuracies of classifiers that take the source as it is."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.svm import SVC

    mean, scale = xs.mean(0), xs.std(0)
    a, b = (np.clip((x - mean) / np.where(scale > 0, scale, 1), -8, 8) for x in (xs, xt))
    epochs = int(np.clip(30_000 // len(ys), 15, 40))
    network = {"max_iter": epochs, "learning_rate_init": 2e-3, "batch_size": min(64, len(ys)), "alpha": 1e-3, "random_state": 0}
    of = {
        "svc": SVC(),
        "lr": LogisticRegression(C=0.3, max_iter=300),
        "knn15": KNeighborsClassifier(min(15, len(ys) // 3)),
        "mlp": MLPClassifier((100, 100), **network),
    }
    warnings.simplefilter("ignore")  # of networks that have not converged
    return {name: round(float((c.fit(a, ys).predict(b) == yt).mean()), 4) for name, c in of.items()}


def main() -> None:
    """Writes the tasks."""
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    rdatasets, datasets, folder = map(pathlib.Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)

    def read(name: str) -> pd.DataFrame:
        return pd.read_csv(rdatasets / "csv" / (name + ".csv"), low_memory=False)

    def old(name: str) -> pd.DataFrame:
        return pd.read_csv(datasets / name, header=None, skipinitialspace=True).rename(columns=lambda c: f"v{c}")

    with open(folder / "tasks.csv", "w") as t, open(folder / "plain.csv", "w") as p:
        families, peers = csv.writer(t), csv.DictWriter(p, ["name", "svc", "lr", "knn15", "mlp"])
        families.writerow(["name", "family"])
        peers.writeheader()
        for name, label, source, target in tasks(read, old):
            xs, ys, xt, yt = features(label, source, target)
            np.savez(folder / f"{name}.npz", Xs=xs, ys=ys, Xt=xt, yt=yt)
            families.writerow([name, name.split("_")[0].split("-")[0]])
            peers.writerow({"name": name, **plain(xs, ys, xt, yt)})
            print(name, *xs.shape, len(xt), flush=True)


if __name__ == "__main__":
    main()
