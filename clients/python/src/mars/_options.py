"""The options of the commands.

Written from their flags by

    go test ./cmd/internal/cli -run TestPythonOptions -update

so it is not edited by hand.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict, Union

Path = Union[str, "os.PathLike[str]"]
Paths = Union[Path, Sequence[Path]]
Names = Union[str, Sequence[str]]
Shares = Union[str, Mapping[str, float], Sequence[float]]


class LabelOptions(TypedDict, total=False):
    """Options of mars label."""

    source_labels: Paths
    target_labels: Paths
    file_column: str
    levels: Names
    tree: Path
    missing_labels: Literal["error", "drop"]
    label_from_file: bool
    batch_column: str
    batch_files: bool
    id: str
    columns: Names
    exclude: Names
    categorical: Names
    max_categories: int
    missing: Literal["impute", "error"]
    missing_indicator: float
    hash_features: int
    domain_column: str
    source_domain: Names
    target_domain: Names
    separator: str
    decimal: Literal[".", ","]
    thousands: str
    comment: str
    skip_lines: int
    no_header: bool
    encoding: str
    panel: Path
    compensate: bool
    classes: Names
    truth: bool
    source_proportions: Shares
    target_proportions: Shares
    source_fractions: str
    target_fractions: str
    source_rows: int
    target_rows: int
    max_source_rows: int
    max_target_rows: int
    disjoint: bool
    shape: str
    raw: bool
    image_column: str
    bad_images: Literal["error", "skip"]
    grey: bool
    resize: str
    source_resize: str
    target_resize: str
    crop: str
    pad: int
    source_pad: int
    target_pad: int
    source_binarise: bool
    target_binarise: bool
    source_photographs: Path
    target_photographs: Path
    colour: bool
    log1p: bool
    arcsinh: float
    logicle: str
    standardize: Literal["none", "source", "domain"]
    scale: Literal["standard", "robust", "quantile"]
    method: Literal["auto", "source", "dann", "wd", "iw-wd", "marsg", "marsc", "self-training", "gmm-ot", "translate", "hedge", "unmix"]
    epochs: int
    augment: str
    assume: Literal["auto", "stay", "move", "same", "balance", "together", "classes", "parts"]
    classifier: Literal["ensemble", "all", "logistic", "kernel", "network", "trees"]
    new_class: Names
    unknown: float
    confidence: float
    decision: Literal["accuracy", "balanced", "none"]
    keep: Names
    save: Path
    report: str
    memory: Union[int, str]
    memory_limit: Union[int, str]
    max_classes: int
    seed: int
    random_state: Union[int, None]
    jobs: int


LABEL: Mapping[str, str] = {
    "source_labels": "file with the labels of source, where they are apart; one for each of several",
    "target_labels": "file with the labels of target (for truth and target_proportions)",
    "file_column": "add a column of this name with the file that each row is from",
    "levels": "label columns of several levels of classes, the coarsest first, such as kind,type: the last is what is learnt, and the others follow from it",
    "tree": "table that says the same where the source has the finest labels alone: a column a level, the coarsest first, and a row for each class",
    "missing_labels": "what to do about source rows without a label: refuse them, or leave them out (default error)",
    "label_from_file": "each file has the rows of one class, which its name is, without folder and endings: cat for features/cat.npy",
    "batch_column": "column of the source's tables that says which labelled batch a row is of (patient, day, laboratory): classifiers are then judged on batches that they have not seen",
    "batch_files": "the same, where each file of source is a batch, or with label_from_file each folder",
    "id": "identity column of a table (default \"id\", else row numbers)",
    "columns": "feature columns of a table, in order, or patterns such as 'm*' (default: all that say something, or the one column of vectors)",
    "exclude": "columns that are no features, or patterns such as 'x*'",
    "categorical": "columns of numbers that are categories, or patterns",
    "max_categories": "make a feature of each value of a category, up to so many; more values share so many features, by a hash (default 32)",
    "missing": "what to do about missing values: fill in the source's median or most frequent value, or refuse them (default impute)",
    "missing_indicator": "add a feature that says which values were missing if more than this share of the source's are (default 0.05)",
    "hash_features": "hash the features of svmlight files to so many (default: as they are up to 16384, else 1024)",
    "domain_column": "column of one table that says which domain a row is of; target may then be left out",
    "source_domain": "values of domain_column in source rows (default \"source\")",
    "target_domain": "values of domain_column in target rows (default \"target\")",
    "separator": "field separator of text tables, such as ' ' (default: by each file's name and header)",
    "decimal": "decimal mark of the numbers in text tables (default: as each file's first rows are written)",
    "thousands": "character between thousands in the numbers of text tables, such as , or ' '",
    "comment": "lines of text tables that begin with this are left out, such as '#'",
    "skip_lines": "lines of text tables before the header to leave out",
    "no_header": "text tables have no header: their columns are c1, c2, …",
    "encoding": "character encoding of text tables: utf-8, latin1, windows-1252, utf-16, or another such as koi8-r, shift_jis or gb18030 (docs/formats.md) (default utf-8)",
    "panel": "table whose first two columns say which marker each detector of FCS files has: the channels are named by it, and the others are left out",
    "compensate": "take the spillover between channels out of FCS files, by the matrix that each has",
    "classes": "keep only rows of these classes, numbered in this order",
    "truth": "write the target's labels as truth, to compare with",
    "source_proportions": "draw source rows so that the classes have these shares: 0.5,0.3,0.2 or a=0.7,b=0.3; random: drawn by the seed, all alike probable",
    "target_proportions": "the same for target rows, by labels that are not written",
    "source_fractions": "keep these fractions of the rows of each class, before any are drawn: 0.3,0.8,1 or a=0.3 (all of the others)",
    "target_fractions": "the same for target rows, by labels that are not written",
    "source_rows": "number of source rows to draw (0: all, or the most the proportions allow)",
    "target_rows": "number of target rows to draw",
    "max_source_rows": "draw so many source rows, or all that there are (0: no limit)",
    "max_target_rows": "the same for target rows",
    "disjoint": "draw target rows that the source has not drawn, where both are from one file",
    "shape": "shape of flat images, CxHxW",
    "raw": "keep integer pixels as they are (default: divide by their largest value)",
    "image_column": "column of a table with the paths of images, as they are from where the table is: the rows are these images",
    "bad_images": "what to do about images of files that cannot be read: refuse them, or leave them out and count them (default error)",
    "grey": "make images of both domains grey",
    "resize": "then resize images of both domains to HxW, bilinear with antialiasing; one number is a square, or with crop the shorter side",
    "source_resize": "resize images of the source alone",
    "target_resize": "resize images of the target alone (default: pictures of other sizes than the source's get that)",
    "crop": "then cut HxW out of the centre of images of both domains",
    "pad": "then surround images of both domains with so many pixels of 0",
    "source_pad": "pad images of the source alone",
    "target_pad": "pad images of the target alone",
    "source_binarise": "then make every pixel of source images above 0 a 1",
    "target_binarise": "the same for target images",
    "source_photographs": "blend source images with patches of the photographs in this folder",
    "target_photographs": "the same for target images: with target_binarise makes MNIST-M of MNIST",
    "colour": "repeat the channel of grey images three times",
    "log1p": "replace numbers x by log(1 + x), as counts and concentrations need it",
    "arcsinh": "replace numbers x by asinh(x / this cofactor), as in cytometry: 5 for mass, 150 for fluorescence",
    "logicle": "replace numbers by their place on the scale of that name, as in cytometry: the top of the instrument's scale, such as 262144, and if others are wanted than 0.5,4.5,0 its parameters W,M,A after it",
    "standardize": "bring features to mean 0 and deviation 1, by the source's moments or each domain's own (default none; source if scale is given)",
    "scale": "how standardize scales: by mean and deviation, by median and interquartile range (robust), or to normal scores (quantile) (default standard)",
    "method": "how to adapt: auto is hedge for tables and embeddings, self-training for images (default auto)",
    "epochs": "length of the training, for a first look (default: the method's)",
    "augment": "random changes of the images that self-training learns from: digits (default), photos, none, or a list such as affine,filter=0.5 of parts with strengths (see mars train; mars featurize augment_preview shows them)",
    "assume": "what has happened to the classes: they stay where they are and only their proportions change (stay), they move (move), or one assumption; auto weighs all by how well they explain the target (default auto)",
    "classifier": "what learns the source's labels: logistic, kernel and network together, and trees where no rows have moved (ensemble), all four everywhere, or one (default ensemble)",
    "new_class": "values in labels that are classes which the source lacks, though they are spelt almost like one of its own",
    "unknown": "label rows \"unknown\" whose typicality is below this: about the share of rows of known classes that are lost to it",
    "confidence": "give each row the class of the deepest of levels whose posterior is at least this, such as 0.9, and \"unknown\" where none is (default: the finest class)",
    "decision": "what to be best at: the most right rows (accuracy), or the mean recall of the classes (balanced) (default accuracy)",
    "keep": "columns of the target's table that the labels get too: id, all, or some by name, as in patient,day (default id)",
    "save": "keep the model in this safetensors file, for mars predict",
    "report": "make a page to look at of the answer too, in this HTML file",
    "memory": "hold this much of a piped input in memory for a second pass, then spool to a temporary file (default 64M)",
    "memory_limit": "refuse inputs that together need more memory than this (default three quarters of the machine's)",
    "max_classes": "refuse labels of more classes than this (default 4096)",
    "seed": "seed of everything random",
    "jobs": "number of threads (default: as many as processors)",
}


class ProportionsOptions(TypedDict, total=False):
    """Options of mars proportions."""

    source_labels: Paths
    target_labels: Paths
    file_column: str
    levels: Names
    tree: Path
    missing_labels: Literal["error", "drop"]
    label_from_file: bool
    batch_column: str
    batch_files: bool
    id: str
    columns: Names
    exclude: Names
    categorical: Names
    max_categories: int
    missing: Literal["impute", "error"]
    missing_indicator: float
    hash_features: int
    domain_column: str
    source_domain: Names
    target_domain: Names
    separator: str
    decimal: Literal[".", ","]
    thousands: str
    comment: str
    skip_lines: int
    no_header: bool
    encoding: str
    panel: Path
    compensate: bool
    classes: Names
    truth: bool
    source_proportions: Shares
    target_proportions: Shares
    source_fractions: str
    target_fractions: str
    source_rows: int
    target_rows: int
    max_source_rows: int
    max_target_rows: int
    disjoint: bool
    shape: str
    raw: bool
    image_column: str
    bad_images: Literal["error", "skip"]
    grey: bool
    resize: str
    source_resize: str
    target_resize: str
    crop: str
    pad: int
    source_pad: int
    target_pad: int
    source_binarise: bool
    target_binarise: bool
    source_photographs: Path
    target_photographs: Path
    colour: bool
    log1p: bool
    arcsinh: float
    logicle: str
    standardize: Literal["none", "source", "domain"]
    scale: Literal["standard", "robust", "quantile"]
    method: Literal["auto", "hedge", "mte", "unmix"]
    assume: Literal["auto", "stay", "move", "same", "balance", "together", "classes", "parts"]
    classifier: Literal["ensemble", "all", "logistic", "kernel", "network", "trees"]
    epochs: int
    augment: str
    new_class: Names
    simultaneous: bool
    level: float
    bootstrap: int
    report: str
    memory: Union[int, str]
    memory_limit: Union[int, str]
    max_classes: int
    seed: int
    random_state: Union[int, None]
    jobs: int


PROPORTIONS: Mapping[str, str] = {
    "source_labels": "file with the labels of source, where they are apart; one for each of several",
    "target_labels": "file with the labels of target (for truth and target_proportions)",
    "file_column": "add a column of this name with the file that each row is from",
    "levels": "label columns of several levels of classes, the coarsest first, such as kind,type: the last is what is learnt, and the others follow from it",
    "tree": "table that says the same where the source has the finest labels alone: a column a level, the coarsest first, and a row for each class",
    "missing_labels": "what to do about source rows without a label: refuse them, or leave them out (default error)",
    "label_from_file": "each file has the rows of one class, which its name is, without folder and endings: cat for features/cat.npy",
    "batch_column": "column of the source's tables that says which labelled batch a row is of (patient, day, laboratory): classifiers are then judged on batches that they have not seen",
    "batch_files": "the same, where each file of source is a batch, or with label_from_file each folder",
    "id": "identity column of a table (default \"id\", else row numbers)",
    "columns": "feature columns of a table, in order, or patterns such as 'm*' (default: all that say something, or the one column of vectors)",
    "exclude": "columns that are no features, or patterns such as 'x*'",
    "categorical": "columns of numbers that are categories, or patterns",
    "max_categories": "make a feature of each value of a category, up to so many; more values share so many features, by a hash (default 32)",
    "missing": "what to do about missing values: fill in the source's median or most frequent value, or refuse them (default impute)",
    "missing_indicator": "add a feature that says which values were missing if more than this share of the source's are (default 0.05)",
    "hash_features": "hash the features of svmlight files to so many (default: as they are up to 16384, else 1024)",
    "domain_column": "column of one table that says which domain a row is of; target may then be left out",
    "source_domain": "values of domain_column in source rows (default \"source\")",
    "target_domain": "values of domain_column in target rows (default \"target\")",
    "separator": "field separator of text tables, such as ' ' (default: by each file's name and header)",
    "decimal": "decimal mark of the numbers in text tables (default: as each file's first rows are written)",
    "thousands": "character between thousands in the numbers of text tables, such as , or ' '",
    "comment": "lines of text tables that begin with this are left out, such as '#'",
    "skip_lines": "lines of text tables before the header to leave out",
    "no_header": "text tables have no header: their columns are c1, c2, …",
    "encoding": "character encoding of text tables: utf-8, latin1, windows-1252, utf-16, or another such as koi8-r, shift_jis or gb18030 (docs/formats.md) (default utf-8)",
    "panel": "table whose first two columns say which marker each detector of FCS files has: the channels are named by it, and the others are left out",
    "compensate": "take the spillover between channels out of FCS files, by the matrix that each has",
    "classes": "keep only rows of these classes, numbered in this order",
    "truth": "write the target's labels as truth, to compare with",
    "source_proportions": "draw source rows so that the classes have these shares: 0.5,0.3,0.2 or a=0.7,b=0.3; random: drawn by the seed, all alike probable",
    "target_proportions": "the same for target rows, by labels that are not written",
    "source_fractions": "keep these fractions of the rows of each class, before any are drawn: 0.3,0.8,1 or a=0.3 (all of the others)",
    "target_fractions": "the same for target rows, by labels that are not written",
    "source_rows": "number of source rows to draw (0: all, or the most the proportions allow)",
    "target_rows": "number of target rows to draw",
    "max_source_rows": "draw so many source rows, or all that there are (0: no limit)",
    "max_target_rows": "the same for target rows",
    "disjoint": "draw target rows that the source has not drawn, where both are from one file",
    "shape": "shape of flat images, CxHxW",
    "raw": "keep integer pixels as they are (default: divide by their largest value)",
    "image_column": "column of a table with the paths of images, as they are from where the table is: the rows are these images",
    "bad_images": "what to do about images of files that cannot be read: refuse them, or leave them out and count them (default error)",
    "grey": "make images of both domains grey",
    "resize": "then resize images of both domains to HxW, bilinear with antialiasing; one number is a square, or with crop the shorter side",
    "source_resize": "resize images of the source alone",
    "target_resize": "resize images of the target alone (default: pictures of other sizes than the source's get that)",
    "crop": "then cut HxW out of the centre of images of both domains",
    "pad": "then surround images of both domains with so many pixels of 0",
    "source_pad": "pad images of the source alone",
    "target_pad": "pad images of the target alone",
    "source_binarise": "then make every pixel of source images above 0 a 1",
    "target_binarise": "the same for target images",
    "source_photographs": "blend source images with patches of the photographs in this folder",
    "target_photographs": "the same for target images: with target_binarise makes MNIST-M of MNIST",
    "colour": "repeat the channel of grey images three times",
    "log1p": "replace numbers x by log(1 + x), as counts and concentrations need it",
    "arcsinh": "replace numbers x by asinh(x / this cofactor), as in cytometry: 5 for mass, 150 for fluorescence",
    "logicle": "replace numbers by their place on the scale of that name, as in cytometry: the top of the instrument's scale, such as 262144, and if others are wanted than 0.5,4.5,0 its parameters W,M,A after it",
    "standardize": "bring features to mean 0 and deviation 1, by the source's moments or each domain's own (default none; source if scale is given)",
    "scale": "how standardize scales: by mean and deviation, by median and interquartile range (robust), or to normal scores (quantile) (default standard)",
    "method": "how to estimate: auto is hedge for tables and embeddings, mte for images (default auto)",
    "assume": "what has happened to the classes: they stay where they are and only their proportions change (stay), they move (move), or one assumption; auto weighs all by how well they explain the target (default auto)",
    "classifier": "what learns the source's labels: logistic, kernel and network together, and trees where no rows have moved (ensemble), all four everywhere, or one (default ensemble)",
    "epochs": "length of the training that gives images an embedding, for a first look (default: the method's)",
    "augment": "random changes of the images that self-training learns from: digits (default), photos, none, or a list such as affine,filter=0.5 of parts with strengths (see mars train; mars featurize augment_preview shows them)",
    "new_class": "values in labels that are classes which the source lacks, though they are spelt almost like one of its own",
    "simultaneous": "by labels: intervals that hold for all classes at once, not for each",
    "level": "probability with which an interval is to hold the true share (default 0.9)",
    "bootstrap": "replicates of the bootstrap behind the intervals (default 200)",
    "report": "make a page to look at of the answer too, in this HTML file",
    "memory": "hold this much of a piped input in memory for a second pass, then spool to a temporary file (default 64M)",
    "memory_limit": "refuse inputs that together need more memory than this (default three quarters of the machine's)",
    "max_classes": "refuse labels of more classes than this (default 4096)",
    "seed": "seed of everything random",
    "jobs": "number of threads (default: as many as processors)",
}


class PredictOptions(TypedDict, total=False):
    """Options of mars predict."""

    decision: Literal["accuracy", "balanced", "none"]
    image_column: str
    bad_images: Literal["error", "skip"]
    file_column: str
    id: str
    domain_column: str
    target_domain: Names
    separator: str
    decimal: Literal[".", ","]
    thousands: str
    comment: str
    skip_lines: int
    no_header: bool
    encoding: str
    panel: Path
    compensate: bool
    keep: Names
    memory: Union[int, str]
    memory_limit: Union[int, str]
    max_classes: int
    jobs: int


PREDICT: Mapping[str, str] = {
    "decision": "what predictions are made ready for: the most right rows, the best mean recall of the classes, or neither (default: as the model was trained)",
    "image_column": "column of a table with the paths of images, as they are from where the table is: the rows are these images",
    "bad_images": "what to do about images of files that cannot be read: refuse them, or leave them out and count them (default error)",
    "file_column": "add a column of this name with the file that each row is from",
    "id": "identity column of a table (default \"id\", else row numbers)",
    "domain_column": "column of a table that says which domain a row is of",
    "target_domain": "values of domain_column in the rows to label (default \"target\")",
    "separator": "field separator of text tables, such as ' ' (default: by each file's name and header)",
    "decimal": "decimal mark of the numbers in text tables (default: as each file's first rows are written)",
    "thousands": "character between thousands in the numbers of text tables, such as , or ' '",
    "comment": "lines of text tables that begin with this are left out, such as '#'",
    "skip_lines": "lines of text tables before the header to leave out",
    "no_header": "text tables have no header: their columns are c1, c2, …",
    "encoding": "character encoding of text tables: utf-8, latin1, windows-1252, utf-16, or another such as koi8-r, shift_jis or gb18030 (docs/formats.md) (default utf-8)",
    "panel": "table whose first two columns say which marker each detector of FCS files has: the channels are named by it, and the others are left out",
    "compensate": "take the spillover between channels out of FCS files, by the matrix that each has",
    "keep": "columns of the target's table that the labels get too: id, all, or some by name, as in patient,day (default id)",
    "memory": "hold this much of a piped input in memory for a second pass, then spool to a temporary file (default 64M)",
    "memory_limit": "refuse inputs that together need more memory than this (default three quarters of the machine's)",
    "max_classes": "refuse labels of more classes than this (default 4096)",
    "jobs": "number of threads (default: as many as processors)",
}


class AskOptions(TypedDict, total=False):
    """Options of mars ask."""

    budget: int
    until: str
    level: float
    uniform: bool
    keep: Names
    source_labels: Paths
    target_labels: Paths
    file_column: str
    levels: Names
    tree: Path
    missing_labels: Literal["error", "drop"]
    label_from_file: bool
    batch_column: str
    batch_files: bool
    id: str
    columns: Names
    exclude: Names
    categorical: Names
    max_categories: int
    missing: Literal["impute", "error"]
    missing_indicator: float
    hash_features: int
    domain_column: str
    source_domain: Names
    target_domain: Names
    separator: str
    decimal: Literal[".", ","]
    thousands: str
    comment: str
    skip_lines: int
    no_header: bool
    encoding: str
    panel: Path
    compensate: bool
    classes: Names
    truth: bool
    source_proportions: Shares
    target_proportions: Shares
    source_fractions: str
    target_fractions: str
    source_rows: int
    target_rows: int
    max_source_rows: int
    max_target_rows: int
    disjoint: bool
    shape: str
    raw: bool
    image_column: str
    bad_images: Literal["error", "skip"]
    grey: bool
    resize: str
    source_resize: str
    target_resize: str
    crop: str
    pad: int
    source_pad: int
    target_pad: int
    source_binarise: bool
    target_binarise: bool
    source_photographs: Path
    target_photographs: Path
    colour: bool
    log1p: bool
    arcsinh: float
    logicle: str
    standardize: Literal["none", "source", "domain"]
    scale: Literal["standard", "robust", "quantile"]
    method: Literal["auto", "source", "dann", "wd", "iw-wd", "marsg", "marsc", "self-training", "gmm-ot", "translate", "hedge", "unmix"]
    epochs: int
    augment: str
    assume: Literal["auto", "stay", "move", "same", "balance", "together", "classes", "parts"]
    classifier: Literal["ensemble", "all", "logistic", "kernel", "network", "trees"]
    save: Path
    report: str
    memory: Union[int, str]
    memory_limit: Union[int, str]
    max_classes: int
    seed: int
    random_state: Union[int, None]
    jobs: int


ASK: Mapping[str, str] = {
    "budget": "rows to draw (default 50)",
    "until": "draw as many rows as are estimated to be needed for intervals of a width, as in width=.05",
    "level": "probability with which those intervals are to hold the true share (default 0.9)",
    "uniform": "draw all rows uniformly",
    "keep": "columns of the target's table that a person is to see: auto (all of at most 12, else id alone), id, all, or some by name, as in patient,day (default auto)",
    "source_labels": "file with the labels of source, where they are apart; one for each of several",
    "target_labels": "file with the labels of target (for truth and target_proportions)",
    "file_column": "add a column of this name with the file that each row is from",
    "levels": "label columns of several levels of classes, the coarsest first, such as kind,type: the last is what is learnt, and the others follow from it",
    "tree": "table that says the same where the source has the finest labels alone: a column a level, the coarsest first, and a row for each class",
    "missing_labels": "what to do about source rows without a label: refuse them, or leave them out (default error)",
    "label_from_file": "each file has the rows of one class, which its name is, without folder and endings: cat for features/cat.npy",
    "batch_column": "column of the source's tables that says which labelled batch a row is of (patient, day, laboratory): classifiers are then judged on batches that they have not seen",
    "batch_files": "the same, where each file of source is a batch, or with label_from_file each folder",
    "id": "identity column of a table (default \"id\", else row numbers)",
    "columns": "feature columns of a table, in order, or patterns such as 'm*' (default: all that say something, or the one column of vectors)",
    "exclude": "columns that are no features, or patterns such as 'x*'",
    "categorical": "columns of numbers that are categories, or patterns",
    "max_categories": "make a feature of each value of a category, up to so many; more values share so many features, by a hash (default 32)",
    "missing": "what to do about missing values: fill in the source's median or most frequent value, or refuse them (default impute)",
    "missing_indicator": "add a feature that says which values were missing if more than this share of the source's are (default 0.05)",
    "hash_features": "hash the features of svmlight files to so many (default: as they are up to 16384, else 1024)",
    "domain_column": "column of one table that says which domain a row is of; target may then be left out",
    "source_domain": "values of domain_column in source rows (default \"source\")",
    "target_domain": "values of domain_column in target rows (default \"target\")",
    "separator": "field separator of text tables, such as ' ' (default: by each file's name and header)",
    "decimal": "decimal mark of the numbers in text tables (default: as each file's first rows are written)",
    "thousands": "character between thousands in the numbers of text tables, such as , or ' '",
    "comment": "lines of text tables that begin with this are left out, such as '#'",
    "skip_lines": "lines of text tables before the header to leave out",
    "no_header": "text tables have no header: their columns are c1, c2, …",
    "encoding": "character encoding of text tables: utf-8, latin1, windows-1252, utf-16, or another such as koi8-r, shift_jis or gb18030 (docs/formats.md) (default utf-8)",
    "panel": "table whose first two columns say which marker each detector of FCS files has: the channels are named by it, and the others are left out",
    "compensate": "take the spillover between channels out of FCS files, by the matrix that each has",
    "classes": "keep only rows of these classes, numbered in this order",
    "truth": "write the target's labels as truth, to compare with",
    "source_proportions": "draw source rows so that the classes have these shares: 0.5,0.3,0.2 or a=0.7,b=0.3; random: drawn by the seed, all alike probable",
    "target_proportions": "the same for target rows, by labels that are not written",
    "source_fractions": "keep these fractions of the rows of each class, before any are drawn: 0.3,0.8,1 or a=0.3 (all of the others)",
    "target_fractions": "the same for target rows, by labels that are not written",
    "source_rows": "number of source rows to draw (0: all, or the most the proportions allow)",
    "target_rows": "number of target rows to draw",
    "max_source_rows": "draw so many source rows, or all that there are (0: no limit)",
    "max_target_rows": "the same for target rows",
    "disjoint": "draw target rows that the source has not drawn, where both are from one file",
    "shape": "shape of flat images, CxHxW",
    "raw": "keep integer pixels as they are (default: divide by their largest value)",
    "image_column": "column of a table with the paths of images, as they are from where the table is: the rows are these images",
    "bad_images": "what to do about images of files that cannot be read: refuse them, or leave them out and count them (default error)",
    "grey": "make images of both domains grey",
    "resize": "then resize images of both domains to HxW, bilinear with antialiasing; one number is a square, or with crop the shorter side",
    "source_resize": "resize images of the source alone",
    "target_resize": "resize images of the target alone (default: pictures of other sizes than the source's get that)",
    "crop": "then cut HxW out of the centre of images of both domains",
    "pad": "then surround images of both domains with so many pixels of 0",
    "source_pad": "pad images of the source alone",
    "target_pad": "pad images of the target alone",
    "source_binarise": "then make every pixel of source images above 0 a 1",
    "target_binarise": "the same for target images",
    "source_photographs": "blend source images with patches of the photographs in this folder",
    "target_photographs": "the same for target images: with target_binarise makes MNIST-M of MNIST",
    "colour": "repeat the channel of grey images three times",
    "log1p": "replace numbers x by log(1 + x), as counts and concentrations need it",
    "arcsinh": "replace numbers x by asinh(x / this cofactor), as in cytometry: 5 for mass, 150 for fluorescence",
    "logicle": "replace numbers by their place on the scale of that name, as in cytometry: the top of the instrument's scale, such as 262144, and if others are wanted than 0.5,4.5,0 its parameters W,M,A after it",
    "standardize": "bring features to mean 0 and deviation 1, by the source's moments or each domain's own (default none; source if scale is given)",
    "scale": "how standardize scales: by mean and deviation, by median and interquartile range (robust), or to normal scores (quantile) (default standard)",
    "method": "how to adapt: auto is hedge for tables and embeddings, self-training for images (default auto)",
    "epochs": "length of the training, for a first look (default: the method's)",
    "augment": "random changes of the images that self-training learns from: digits (default), photos, none, or a list such as affine,filter=0.5 of parts with strengths (see mars train; mars featurize augment_preview shows them)",
    "assume": "what has happened to the classes: they stay where they are and only their proportions change (stay), they move (move), or one assumption; auto weighs all by how well they explain the target (default auto)",
    "classifier": "what learns the source's labels: logistic, kernel and network together, and trees where no rows have moved (ensemble), all four everywhere, or one (default ensemble)",
    "save": "keep the model in this safetensors file, for mars proportions model",
    "report": "make a page to look at of the rows too, with their pictures if they are images, in this HTML file",
    "memory": "hold this much of a piped input in memory for a second pass, then spool to a temporary file (default 64M)",
    "memory_limit": "refuse inputs that together need more memory than this (default three quarters of the machine's)",
    "max_classes": "refuse labels of more classes than this (default 4096)",
    "seed": "seed of everything random",
    "jobs": "number of threads (default: as many as processors)",
}


class CheckOptions(TypedDict, total=False):
    """Options of mars check."""

    reference_labels: str
    score: str
    positive: str
    id: str
    new_class: Names
    columns: Names
    window: str
    time: str
    level: float
    metrics_file: str
    report: str
    separator: str
    decimal: Literal[".", ","]
    thousands: str
    comment: str
    skip_lines: int
    no_header: bool
    encoding: str
    memory_limit: Union[int, str]
    max_classes: int
    seed: int
    random_state: Union[int, None]
    jobs: int


CHECK: Mapping[str, str] = {
    "reference_labels": "file with the labels of the reference's rows, if that has none: rows belong together by id",
    "score": "column with the posterior of one of two classes",
    "positive": "class that score is of (default: the last by value or name)",
    "id": "identity column, for labels and reference_labels (default: row numbers if there is none)",
    "new_class": "values in labels that are classes which the source lacks, though they are spelt almost like one of its own",
    "columns": "columns that the rows have besides, in both tables, or patterns such as 'm*' or '*': mars label then says by them, with the reference as the source, which classes each window's rows are of, and that counts too",
    "window": "length of a window: a number of rows, or a time such as 15m, 1h or 7d (default: all rows are one)",
    "time": "column with the time of each row, for windows of time: 2026-03-01T12:00:00Z, or seconds since 1970",
    "level": "level of the intervals (default 0.9)",
    "metrics_file": "keep the last window in this file for Prometheus, for node_exporter's textfile collector",
    "report": "make a page to look at of the answer too, in this HTML file",
    "separator": "field separator of text tables, such as ' ' (default: by each file's name and header)",
    "decimal": "decimal mark of the numbers in text tables (default: as each file's first rows are written)",
    "thousands": "character between thousands in the numbers of text tables, such as , or ' '",
    "comment": "lines of text tables that begin with this are left out, such as '#'",
    "skip_lines": "lines of text tables before the header to leave out",
    "no_header": "text tables have no header: their columns are c1, c2, …",
    "encoding": "character encoding of text tables: utf-8, latin1, windows-1252, utf-16, or another such as koi8-r, shift_jis or gb18030 (docs/formats.md) (default utf-8)",
    "memory_limit": "refuse inputs that together need more memory than this (default three quarters of the machine's)",
    "max_classes": "refuse labels of more classes than this (default 4096)",
    "seed": "seed of everything random",
    "jobs": "number of threads (default: as many as processors)",
}
