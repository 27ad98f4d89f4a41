"""Makes tasks of families that splits.py and ask_tasks.py do not have.

usage: more_splits.py REPOSITORIES FOLDER [NAME...]

REPOSITORIES has check-outs of the repositories that TABLES names, as OWNER/NAME of github.com (data.py fetches them).
TABLES has one line for a split: its name, of which the part before _ is the family; the
repository and the file (two files, with "|", become one table whose column file says which); the
label; rows of the source; rows of the target; and columns that are left out, since they give the
label or the side away, or after "=" the only ones that are kept. Names of columns are in small
letters with _ for signs. The label is a column, "thirds COLUMN" or an expression; rows are
expressions, of which ~ stands for the rest, and row is the place in the file, from 0 to 1, which
is time where rows are in its order. A line without sides is a table that nobody would split: it
has the changes of ask_tasks.py alone.

FOLDER gets NAME.npz and tasks.csv (name, kind, family), as gate_tasks.py takes them, and
forests.csv: rows, the largest share, and a random forest's accuracy out of bag in the source and
on the target. Each table has its splits, and three kinds of ask_tasks.py in turn where it is
large enough; what a forest hardly tells from the largest class within the source is left out. Needs
what splits.py and ask_tasks.py need; NAMEs make those families alone.
"""

import csv
import pathlib
import re
import sys

import numpy as np
import pandas as pd
from ask_tasks import task
from sklearn.ensemble import RandomForestClassifier
from splits import features, sides, thirds

pd.set_option("future.infer_string", False)  # text is of the type object, as it was before pandas 3

ROWS = 2_000  # of a side, at most
LEAST = 100  # of a side
COLUMNS = 60
CLASSES = 20
VALUES = 15  # of a column of text: one with more is a name
MORE = 0.01  # than the largest share: a forest's accuracy within the source, at least
KINDS = ("label", "moved", "new", "rule", "chosen", "same")

# Their commits and licences are in sets/data.toml.
DRIFT = "automl/Drift-Resilient_TabPFN", "tabpfn/datasets/data/"
STREAMS = "ogozuacik/concept-drift-datasets-scikit-multiflow", "real-world/"
FAIR = "tailequy/fairness_dataset", "experiments/data/"
SELVA = "selva86/datasets", ""
ARFF = "renatopp/arff-datasets", "classification/"
YBI = "YBI-Foundation/Dataset", ""
DPHI = "dphi-official/Datasets", ""
REISANAR = "reisanar/datasets", ""
OPENINTRO = "OpenIntroStat/openintro", "data-raw/"
FTE = "fivethirtyeight/data", ""
SEABORN = "mwaskom/seaborn-data", ""
PACKT = "PacktPublishing/Machine-Learning-with-R-Third-Edition", "Chapter06/"
STEDY = "stedy/Machine-Learning-with-R-datasets", ""
VEGA = "vega/vega-datasets", "data/"
PLOTLY = "plotly/datasets", ""
COMPAS = "propublica/compas-analysis", ""
SCIENTIST = "dsrscientist/dataset1", ""
AGERON = "ageron/handson-ml2", ""
SUSAN = "susanli2016/Machine-Learning-with-Python", ""

SOUTH = "state in ['Texas', 'Georgia', 'Virginia', 'Kentucky', 'Tennessee', 'North Carolina', 'Mississippi', 'Alabama', 'Florida']"

TABLES = [
    ("nyctaxi", SEABORN, "taxis.csv", "color", "payment == 'cash'", "~", "tip total payment pickup dropoff"),
    ("mpg", SEABORN, "mpg.csv", "origin", "model_year <= 76", "~", "model_year name"),
    ("absence", DRIFT, "absenteeism_at_work.csv", "absenteeism_time_in_hours > 3", "seasons in [1, 4]", "~",
     "id seasons month_of_absence absenteeism_time_in_hours"),
    ("chessgames", DRIFT, "chess.csv", "outcome", "row < .5", "~", "year month day"),
    ("polyuria", DRIFT, "diabetes_questionaire.csv", "class", "gender == 'Male'", "~", "gender"),
    ("liver", DRIFT, "indian_liver_patient.csv", "dataset", "gender == 'Male'", "~", "gender"),
    ("occupancy", DRIFT, "occupancy_detection.csv", "occupancy", "row < .4", "row > .6", "id date"),
    ("electricity", STREAMS, "elec.csv", "target", "row > .45 and row < .7", "row >= .7", "feat_1"),
    ("offutt", STREAMS, "weather.csv", "target", "row < .3", "row > .7", ""),
    ("outdoor", STREAMS, "outdoorStream.csv", "target where target < 20", "row < .5", "~", ""),
    ("luxembourg", STREAMS, "LUdata.csv", "target", "row < .5", "~", "at3 at31"),
    ("bankchurn_country", SELVA, "Churn_Modelling.csv", "exited", "geography == 'France'", "geography == 'Germany'",
     "rownumber customerid surname geography"),
    ("bankchurn_sex", SELVA, "Churn_Modelling.csv", "exited", "gender == 'Male'", "~", "rownumber customerid surname gender"),
    ("cells", SELVA, "segmentationData.csv", "class", "", "", "cell case"),
    ("activity", SELVA, "har_train.csv", "classe", "", "", ""),
    ("lifespan", SELVA, "Life_Expectancy_Data.csv", "thirds life_expectancy", "year <= 2004", "year >= 2010",
     "country year status life_expectancy"),
    ("college", SELVA, "College.csv", "private", "", "", ""),
    ("bankmarketing_contact", FAIR, "bank-full.csv", "y", "contact == 'cellular'", "contact == 'unknown'",
     "contact day"),
    ("bankmarketing_age", FAIR, "bank-full.csv", "y", "age < 35", "age > 50", "age day"),
    ("communities", FAIR, "communities_crime.csv", "thirds violentcrimesperpop", "state <= 25", "~",
     "state communityname fold violentcrimesperpop class"),
    ("compas_sex", COMPAS, "compas-scores-two-years.csv", "two_year_recid", "sex == 'Male'", "~",
     "=age race juv_fel_count juv_misd_count juv_other_count priors_count c_charge_degree days_b_screening_arrest"),
    ("compas_race", COMPAS, "compas-scores-two-years.csv", "two_year_recid",
     "race == 'Caucasian'", "race == 'African-American'",
     "=age sex juv_fel_count juv_misd_count juv_other_count priors_count c_charge_degree days_b_screening_arrest"),
    ("taiwan", FAIR, "credit-card-clients.csv", "default_payment", "education == 1", "education >= 3", "education"),
    ("dutch", FAIR, "dutch.csv", "occupation", "sex == 'male'", "~", "sex"),
    ("lawschool", FAIR, "law_school_clean.csv", "tier", "race == 'White'", "~", "race"),
    ("fueleconomy", REISANAR, "vehicles.csv", "drive", "year < 1990", "year >= 2008", "id year make model"),
    ("portuguese", FAIR, "student_por_new.csv", "class", "school == 'GP'", "~", "school"),
    ("teenagers", STEDY, "snsdata.csv", "gender", "gradyear == 2006", "gradyear == 2009", "gradyear"),
    ("wine", PACKT, "whitewines.csv|redwines.csv", "quality > 5", "file == 0", "~", "quality file"),
    ("heart", ARFF, "heart.c.arff|heart.h.arff", "num", "file == 0", "~", "file"),
    ("charges", STEDY, "insurance.csv", "thirds charges", "region == 'southeast'", "~", "charges region"),
    ("birdstrikes", VEGA, "birdstrikes.csv", "wildlife_size", "phase_of_flight == 'Approach'",
     "phase_of_flight in ['Climb', 'Take-off run']", "phase_of_flight"),
    ("comics", OPENINTRO, "comics/comics.csv", "align", "publisher == 'marvel'", "~", "publisher name"),
    ("bechdel", FTE, "bechdel/movies.csv", "thirds domgross_2013", "year < 2003", "year >= 2008",
     "year imdb title test code period_code decade_code budget domgross domgross_2013 intgross intgross_2013"),
    ("voters", FTE, "non-voters/nonvoters_data.csv", "voter_category", "ppage < 50", "ppage >= 60",
     "respid weight ppage"),
    ("squirrels", PLOTLY, "2018_Central_Park_Squirrel_Census_-_Squirrel_Data_20250721.csv", "location",
     "shift == 'AM'", "~", "shift date above_ground_sighter_measurement hectare_squirrel_number"),
    ("baseball", OPENINTRO, "mlb_teams/mlb_teams.csv", "w > l", "yearid < 1960", "yearid >= 1980",
     "=r h _2b _3b hr bb so sb ra er era cg sho sv ha hra bba soa e dp fp attendance"),
    ("county", OPENINTRO, "county_2023/county_2023.csv", "thirds college_grad", SOUTH, "~",
     "unnamed_0 geoid county_state name state college_grad"),
    ("usedcars", YBI, "Car Price.csv", "fuel where fuel in ['Petrol', 'Diesel']", "seller_type == 'Individual'", "~",
     "seller_type model"),
    ("homeequity", YBI, "Home Equity Data.csv", "default", "reason == 'DebtCon'", "reason == 'HomeImp'",
     "reason reason_d mgr_d office_d prof_d sales_d self_d"),
    ("eligible", YBI, "Loan Eligibility Prediction.csv", "loan_status", "property_area == 'Semiurban'", "~",
     "property_area customer_id"),
    ("melbourne", YBI, "Melbourne Housing Market.csv", "type", "regionname == 'Southern Metropolitan'",
     "regionname == 'Western Metropolitan'", "regionname postcode suburb lattitude longtitude propertycount"),
    ("exams", YBI, "Students Performance.csv", "gender", "lunch == 'standard'", "~", "lunch"),
    ("bikes", DPHI, "bike_data/bike_train.csv", "thirds cnt", "yr == 0", "yr == 1", "instant dteday yr cnt"),
    ("bigmart", YBI, "Big Sales Data.csv", "thirds item_outlet_sales", "outlet_location_type == 'Tier 3'", "~",
     "item_identifier outlet_identifier outlet_location_type outlet_establishment_year item_outlet_sales"),
    ("carriers", YBI, "Airline Delay.csv", "thirds arr_del15 / arr_flights", "year == 2019", "year == 2020",
     "year month carrier_name airport_name airport arr_del15"),
    ("mobiles", YBI, "MobilePriceRange.csv", "pricerange", "_4g == 1", "~", "_4g"),
    ("pumpkin", SCIENTIST, "Pumpkin_Seeds_Dataset.csv", "class", "", "", ""),
    ("sky", SCIENTIST, "Skyserver.csv", "class", "run == 756", "run == 752", "=u g r i z"),
    ("cardchurn", SUSAN, "data/BankChurners.csv", "attrition_flag", "gender == 'F'", "~",
     "gender clientnum"),
    ("leavers", SUSAN, "HR.csv", "left", "sales in ['technical', 'support', 'IT']", "sales == 'sales'", "sales"),
    ("crops", DPHI, "crop_recommendation/train_set_label.csv", "crop where crop not in ['apple', 'coffee']", "", "", ""),
    ("framingham", DPHI, "framingham.csv", "tenyearchd", "male == 0", "~", "male"),
    ("parkinsons", DPHI, "parkinsons.csv", "thirds motor_updrs", "sex == 0", "~", "subject sex motor_updrs total_updrs"),
    ("inpatients", DPHI, "patient_treat_class/training_set_label.csv", "source", "sex == 'M'", "~", "sex"),
    ("airquality", DPHI, "air.csv", "thirds no2_gt where no2_gt > -200", "row < .4", "row > .6", "date time no2_gt nox_gt"),
    ("engineers", DPHI, "eng_grad_emp_salary/training_set_label.csv", "thirds salary", "gender == 'm'", "~",
     "id dob gender salary collegeid collegecityid"),
    ("wholesale", DPHI, "Wholesale_customers_data.csv", "channel", "region == 3", "~", "region"),
    ("california", AGERON, "datasets/housing/housing.csv", "thirds median_house_value",
     "ocean_proximity == '<1H OCEAN'", "ocean_proximity == 'INLAND'", "median_house_value ocean_proximity longitude latitude"),
    ("eucalyptus", ARFF, "../agridata/eucalyptus.arff", "utility", "year <= 1981", "year > 1981",
     "abbrev map_ref year sp"),
    ("nursery", ARFF, "nursery.arff", "class", "finance == 'convenient'", "~", "finance"),
    ("carevaluation", ARFF, "car.arff", "class", "buying in ['vhigh', 'high']", "~", "buying"),
    ("waveform", ARFF, "waveform5000.arff", "class", "", "", ""),
    ("pageblocks", ARFF, "page.blocks.arff", "class", "", "", ""),
    ("soybean", ARFF, "soybean.arff", "class", "date in ['april', 'may', 'june', 'july']", "~", "date"),
    ("bands", ARFF, "cylinder.bands.arff", "band_type", "paper_type == 'uncoated'", "~",
     "timestamp cylinder_number customer job_number paper_type"),
    ("marathon", REISANAR, "marathon_results_2017.csv", "m_f", "age < 35", "age >= 50",
     "=_5k _10k _15k _20k half _25k _30k _35k _40k"),
    ("roxbury", REISANAR, "WestRoxbury.csv", "thirds total_value", "remodel == 'Recent'", "remodel == 'Old'", "total_value tax remodel"),
    ("tayko", REISANAR, "Tayko.csv", "purchase", "web_order == 1", "~", "sequence_number spending web_order"),
    ("avocado", REISANAR, "avocado.csv", "type", "year == 2015", "year == 2017", "unnamed_0 date year region"),
    ("corolla", REISANAR, "ToyotaCorolla.csv", "thirds price", "age_08_04 > 60", "age_08_04 <= 60",
     "model price age_08_04 mfg_month mfg_year"),
]  # fmt: skip


def read(repositories: pathlib.Path, source: tuple[str, str], files: str) -> pd.DataFrame:
    """The rows of the files, with plain names and numbers where there are numbers."""
    parts = []
    for number, file in enumerate(files.split("|")):
        path = repositories / source[0] / (source[1] + file)
        if path.suffix == ".arff":
            d = _arff(path)
        else:
            with open(path, encoding="latin1") as lines:
                sign = ";" if ";" in lines.readline() else ","
            d = pd.read_csv(path, sep=sign, encoding="utf-8-sig", encoding_errors="replace", skipinitialspace=True, low_memory=False)
        d.columns = [re.sub(r"^(?=\d)", "_", re.sub(r"\W+", "_", str(c).strip()).strip("_").lower()) for c in d.columns]
        d = d.rename(columns={"cp": "chest_pain"})  # heart.c's name for what is heart.h's
        parts.append(d.assign(file=number) if "|" in files else d)
    d = pd.concat(parts, ignore_index=True).replace(["?", "NA"], np.nan)
    for c in d.columns[d.dtypes == object]:
        text = d[c].astype(str).str.strip().where(d[c].notna())
        if text.str.fullmatch(r"\d+:\d\d:\d\d").mean() > 0.8:
            d[c] = pd.to_timedelta(text, errors="coerce").dt.total_seconds()
        else:
            number = pd.to_numeric(text, errors="coerce")
            d[c] = number if number.notna().sum() == text.notna().sum() else text
    return d.assign(row=np.arange(len(d)) / len(d))


def _arff(path: pathlib.Path) -> pd.DataFrame:
    """The rows of an ARFF file, values as text."""
    names, rows, data = [], [], False
    for line in path.read_text("latin1").splitlines():
        line = line.strip()
        if data and line and line[0] != "%":
            rows.append(next(csv.reader([line], quotechar="'", skipinitialspace=True)))
        elif line[:10].lower() == "@attribute":
            names.append(re.match(r"('[^']+'|\S+)", line[10:].strip())[0].strip("'"))
        data = data or line[:5].lower() == "@data"
    return pd.DataFrame(rows, columns=names)


def parts(d: pd.DataFrame, label: str, source: str, target: str, left: str):
    """The two sides of a table, as splits.py's, or halves of it."""
    label, _, where = label.partition(" where ")
    if where:
        d = d.query(where, engine="python").reset_index(drop=True)
    rest = label.removeprefix("thirds ")
    y = d.eval(f"`{rest}`" if rest in d else rest, engine="python")
    d = d.assign(label_=thirds(y).where(y.notna()) if rest != label else y.astype(str).where(y.notna()))
    ours = d.eval(source, engine="python").to_numpy(bool) if source else np.random.default_rng(0).random(len(d)) < 0.5
    theirs = ~ours if target in ("~", "") else d.eval(target, engine="python").to_numpy(bool)
    if left.startswith("="):
        d = d[[*left[1:].split(), "label_"]]
    else:
        d = d.drop(columns=[*left.split(), "row", *([rest] if rest in d and rest not in left.split() else [])])
    names = [c for c in d.columns.drop("label_") if d[c].nunique() < 2 or (d[c].dtype == object and d[c].nunique() > VALUES)]
    classes = d.label_[ours].value_counts().index[:CLASSES]
    d = d.drop(columns=names).rename(columns={"id": "identity"})  # mars takes id for names of rows
    return sides(d.where(d.label_.isin(classes)), "label_", ours, theirs, [], ROWS)


def forest(xs, ys, xt, yt) -> list:
    """Rows, the largest share, and accuracies out of bag and on the target."""
    f = RandomForestClassifier(60, min_samples_leaf=2, oob_score=True, random_state=0, n_jobs=1).fit(xs, ys)
    accuracies = np.bincount(ys.astype(int)).max() / len(ys), f.oob_score_, f.score(xt, yt)
    return [len(xs), len(xt), xs.shape[1], len(np.unique(np.r_[ys, yt])), *(round(float(v), 3) for v in accuracies)]


def main() -> None:
    """Writes the tasks."""
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    repositories, folder, only = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    folder.mkdir(parents=True, exist_ok=True)
    seen = set()
    with open(folder / "tasks.csv", "w") as t, open(folder / "forests.csv", "w") as f:
        tasks, forests = csv.writer(t, lineterminator="\n"), csv.writer(f, lineterminator="\n")
        tasks.writerow(["name", "kind", "family"])
        forests.writerow(["name", "source", "target", "columns", "classes", "largest", "within", "across"])
        for number, (name, where, file, label, source, target, left) in enumerate(TABLES):
            family = name.split("_")[0]
            if only and family not in only:
                continue
            pair = parts(read(repositories, where, file), label, source, target, left)
            if pair is None or min(map(len, pair)) < LEAST:
                print(name, "has too few rows", file=sys.stderr)
                continue
            xs, ys, xt, yt = features("label_", *pair)
            rng = np.random.default_rng(9000 + number)
            some = np.sort(rng.permutation(xs.shape[1])[:COLUMNS])
            made = [(name, "split", (xs[:, some], ys, xt[:, some], yt))] if source else []
            x, y = np.concatenate([xs, xt])[:, some], np.concatenate([ys, yt]).astype(int)
            for k in range(0 if family in seen else 3):
                kind = KINDS[(3 * number + k + number // 2) % 6]
                made.append((f"{name}-{kind}", kind, task(x, y, kind, rng)))
            seen.add(family)
            for one, kind, arrays in made:
                if arrays is None:
                    continue
                row = [one, *forest(*arrays)]
                print(*row, flush=True)
                if row[6] < row[5] + MORE:
                    print(one, "is left out: a forest is hardly better than the largest class", file=sys.stderr)
                    continue
                np.savez_compressed(folder / f"{one}.npz", **dict(zip(("Xs", "ys", "Xt", "yt"), arrays)))
                tasks.writerow([one, kind, family])
                forests.writerow(row)


if __name__ == "__main__":
    main()
