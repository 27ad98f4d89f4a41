package cli

// A wire says how to see that a flag does something. The stage is run as usual, with more
// flags or on other rows, and again with each of the flag's values as well.
type wire struct {
	values string // apart by spaces
	with   string // flags of both runs; "images" stands for those of the usual images
	rows   string // file that both read
	bare   bool   // without the usual flags
	meta   bool   // the effect is on metadata alone
	fails  bool   // a run may fail: that it does is an effect
	among  bool   // the values are compared with each other alone: a run without takes long
	idle   bool   // it has no effect on this stage's result, for a reason given here
}

// A usualRun is how a stage is run unless a wire says otherwise.
type usualRun struct{ rows, flags, images string }

const (
	twoTables = "--source=source.csv --target=target.csv"
	images    = "--source=source.npy --source-labels=source-labels.npy --target=target.npy --target-labels=target-labels.npy"
	// onStream are the flags of mars-predict on rows of the small pipeline.
	slow     = "--learning-rate=0.01"
	onStream = "--model=model.safetensors"
	quick    = "--epochs=4 --start-align=1 --reestimate-every=1 --critic-steps=2 --batch=12 --learning-rate=0.1 --decay-from=2 --average-from=3"
)

var usualRuns = map[string]usualRun{
	"featurize":     {flags: twoTables, images: images},
	"featurize toy": {flags: "--source-rows=20 --target-rows=20"},
	"embed":         {rows: "toy.arrow", flags: "--epochs=3 --save=out/g.safetensors"},
	"cluster":       {rows: "embedded.arrow", flags: "--embedding=features2 --save=out/components.arrow"},
	"match":         {rows: "clustered.arrow", flags: "--save=out/matching.arrow"},
	"reweight":      {rows: "matched.arrow", flags: "--save=out/weights.arrow"},
	"train":         {rows: "weighted.arrow", flags: "--save=out/model.safetensors " + quick},
	"predict":       {flags: "--model=tables.safetensors --target=target.csv"},
	"eval":          {rows: "labelled.arrow"},
	"proportions":   {flags: "--bootstrap=5 --json " + twoTables, images: "--epochs=1 --bootstrap=5 --json --max-source-rows=30 --max-target-rows=30 " + images},
	"label":         {flags: "--save=out/model.safetensors " + twoTables, images: "--method=source --epochs=1 --save=out/model.safetensors " + images},
}

// sharedWires are of flags that mean the same to many stages.
var sharedWires = map[string]wire{
	"memory": {values: "1K"}, "memory-limit": {values: "512M"}, "max-classes": {values: "7"}, "quiet": {values: "true"},
	"seed": {values: "1 2"}, "jobs": {values: "2"}, "output": {values: "out/other.arrow"}, "compression": {values: "zstd"},
	"features": {values: "features2"}, "domain": {values: "domain2"}, "label": {values: "label2"},
	"embedding": {values: "embedding2"}, "component": {values: "component2"}, "matched": {values: "matched2"},
	"weight": {values: "weight2"}, "truth": {values: "truth2"}, "probability": {values: "probability2"},
	"prediction": {values: "p"}, "predicted-class": {values: "c"}, "typicality": {values: "t"},
	"unseen": {values: "unseen2", rows: "held.arrow"},
}

// fileWires are of the flags that say what to read and what to make of it.
var fileWires = map[string]wire{
	"source":          {values: "source.csv target.csv", fails: true},
	"target":          {values: "source.csv target.csv", fails: true},
	"source-labels":   {values: "other-labels.npy", with: "images", fails: true},
	"target-labels":   {values: "other-labels.npy", with: "images --truth", fails: true},
	"columns":         {values: "a b"},
	"file-column":     {values: "file from"},
	"batch-column":    {values: "a b"},
	"batch-files":     {values: "true", with: "--source=first.csv,second.csv"},
	"label-from-file": {values: "true", with: "--source=first.csv,second.csv"},
	"label":           {values: "kind"}, "id": {values: "key"},
	"levels":            {values: "group,label other,label", with: "--source=levelled.csv --exclude=group,other", meta: true},
	"tree":              {values: "tree.csv tree2.csv", meta: true},
	"exclude":           {values: "b a"},
	"categorical":       {values: "n", with: "--source=mixed-source.csv --target=mixed-target.csv"},
	"max-categories":    {values: "2 3", with: "--source=mixed-source.csv --target=mixed-target.csv"},
	"missing":           {values: "error", with: "--source=mixed-source.csv --target=mixed-target.csv", fails: true},
	"missing-labels":    {values: "drop", with: "--source=gaps.csv", fails: true},
	"hash-features":     {values: "3 5", with: "--source=sparse.svm --target=sparse.svm"},
	"missing-indicator": {values: "0.5", with: "--source=mixed-source.csv --target=mixed-target.csv"},
	"domain-column":     {values: "side"},
	"source-domain":     {values: "old new", with: "--domain-column=side"},
	"target-domain":     {values: "old new", with: "--domain-column=side"},
	"separator":         {values: "|", with: "--source=bars.csv --target=bars.csv"},
	"decimal":           {values: ",", with: "--source=commas.csv --target=commas.csv", fails: true},
	"thousands":         {values: "_", with: "--source=grouped.csv --target=grouped.csv"},
	"comment":           {values: "#", with: "--source=remarks.csv --target=remarks.csv", fails: true},
	"skip-lines":        {values: "1", with: "--source=remarks.csv --target=remarks.csv", fails: true},
	"no-header":         {values: "true", with: "--source=bare.csv --target=bare.csv --label=c3", fails: true},
	"compensate":        {values: "true", fails: true}, // of tables that have no spillover
	"encoding":          {values: "latin1", with: "--source=accents.csv --target=accents.csv", meta: true},
	"classes":           {values: "q,p r,q,p"},
	"truth":             {values: "true"},
	"seed":              {values: "1 2", with: "--source-rows=20 --target-rows=15"},

	"source-proportions": {values: "p=0.5,q=0.3,r=0.2 random"},
	"target-proportions": {values: "p=0.5,q=0.3,r=0.2 random"},
	"source-fractions":   {values: "p=0.5 0.5,0.7,1"},
	"target-fractions":   {values: "p=0.5 0.5,0.7,1"},
	"source-rows":        {values: "20 25"}, "target-rows": {values: "20 25"},
	"max-source-rows": {values: "20 25"}, "max-target-rows": {values: "20 25"},
	"disjoint": {values: "true", with: "--target=source.csv --source-rows=20 --target-rows=15"},

	"shape":              {values: "1x6x6 1x4x9", with: "images --source=flat.npy --target=flat.npy", meta: true},
	"raw":                {values: "true", with: "images"},
	"image-column":       {values: "path other", with: "images --source=listed.csv --target=listed.csv", fails: true},
	"bad-images":         {values: "skip", with: "images --source=torn.csv --target=torn.csv --image-column=path", fails: true},
	"grey":               {values: "true", with: "images --source=tinted.npy --target=tinted.npy"},
	"crop":               {values: "4 5x4", with: "images"},
	"resize":             {values: "6 7x6", with: "images"},
	"source-resize":      {values: "6 7", with: "images --target-resize=6", fails: true},
	"target-resize":      {values: "6 7", with: "images --source-resize=6", fails: true},
	"pad":                {values: "1", with: "images"},
	"source-pad":         {values: "1", with: "images --target-pad=1", fails: true},
	"target-pad":         {values: "1", with: "images --source-pad=1", fails: true},
	"source-binarise":    {values: "true", with: "images"},
	"target-binarise":    {values: "true", with: "images"},
	"source-photographs": {values: "photographs", with: "images --colour"},
	"target-photographs": {values: "photographs", with: "images --colour"},
	"colour":             {values: "true", with: "images"},
	"standardize":        {values: "source domain"},
	"scale":              {values: "robust quantile", with: "--standardize=source"},
	"log1p":              {values: "true", with: "--source=mixed-source.csv --target=mixed-target.csv --columns=n"},
	"arcsinh":            {values: "0.5 5"},
}

// networkWires are of the flags of training.
var networkWires = map[string]wire{
	"arch":          {values: "identity mlp:2-5-5 visda"},
	"shape":         {values: "1x1x2", meta: true},
	"epochs":        {values: "5 6"},
	"batch":         {values: "10 14"},
	"optimiser":     {values: "adam", with: slow},
	"learning-rate": {values: "0.01 0.02"},
	"momentum":      {values: "0.5 0.9", with: "--optimiser=sgd"},
	"weight-decay":  {values: "0.1 0.2"},
	"hold-out":      {values: "2 3"},
	"input":         {values: "symmetric standard row"},
}

// hedgeWires are of the flags of the method hedge.
var hedgeWires = map[string]wire{
	// Not same: it is what auto takes these rows for.
	"assume":     {values: "stay move together"},
	"classifier": {values: "logistic kernel network"},
}

// labelWires are of the labels that a person gave. The classes are letters, of which none is like
// another.
var labelWires = map[string]wire{
	"labels":    {values: "answers.csv answers2.csv"},
	"new-class": {values: "z", with: twoTables + " --labels=answers3.csv", bare: true, idle: true},
}

// wires has every flag of every stage, or one of the tables above has.
var wires = map[string][]map[string]wire{
	"featurize": {fileWires, {
		"augment": {values: refused}, // without --augment-preview, which is for the eye
		"save":    {values: "out/prepared"},
		"load":    {values: "prepared.state"},
	}},
	"featurize toy": {{
		"setting": {values: "low high 3 4"}, "shift": {values: "1 2"},
		"imbalance":                {values: "1 2", with: "--setting=4"},
		"source-proportions":       {values: "0.5,0.3,0.2 random"},
		"target-proportions":       {values: "0.5,0.3,0.2 random"},
		"source-rows":              {values: "21 22"},
		"target-rows":              {values: "21 22"},
		"published-code-variances": {values: "true"},
		"truth":                    {values: "true"},
	}},
	"embed": {networkWires, {
		"method":  {values: "self-training"},
		"augment": {values: "none noise=0.5", with: "--method=self-training"},
		"save":    {values: "out/other.safetensors"},
		"load":    {values: "g.safetensors", bare: true},
	}},
	"cluster": {{
		"method":           {values: "gmm kmeans"},
		"components":       {values: "4 5"},
		"covariance":       {values: "tied diagonal spherical", with: "--method=gmm"},
		"starts":           {values: "1", with: "--method=gmm --iterations=1 --components=6"},
		"iterations":       {values: "1 2", with: "--method=gmm --starts=1 --components=6"},
		"covariance-floor": {values: "0.1 0.2", with: "--method=gmm"},
		"max-rows":         {values: "20 30"},
		"seed":             {values: "1 2", with: "--method=gmm --starts=1 --iterations=1 --components=6"},
		"label":            {values: "label3", rows: "plain.arrow"}, // the classes are counted
		"save":             {values: "out/other.arrow"},
		"load":             {values: "components.state", bare: true},
	}},
	"match": {{
		"cost": {values: "bures", meta: true}, // of few rows the matching is the same,
		"save": {values: "out/other.arrow"},
		"load": {values: "matching.state", bare: true},
	}},
	"reweight": {{
		"estimator":   {values: "plan mte refit cc bbse bbse-soft rlls em", rows: "held.arrow"},
		"calibration": {values: "temperature none", with: "--estimator=em", rows: "held.arrow"},
		"unseen":      {values: "unseen2", with: "--estimator=em", rows: "held.arrow"},
		"shape":       {values: "36", with: "--estimator=mte", rows: "images.arrow"},
		"all-unseen":  {values: "true", with: "--estimator=em", rows: "held.arrow"},
		"proportions": {values: "0.5,0.3,0.2 0.6,0.2,0.2", with: "--estimator=given", fails: true},
		"save":        {values: "out/other.arrow"},
		"load":        {values: "weights.state", bare: true},
		"seed":        {values: "1", with: "--estimator=refit"},
		"features":    {values: "features2", with: "--estimator=mte --embedding=none"},
		"embedding":   {values: "embedding2", with: "--estimator=mte", rows: "images.arrow"},
		"probability": {values: "probability2", with: "--estimator=em --calibration=none"},
		"truth":       {values: "truth2", with: "--estimator=oracle --i-know"},
		"i-know":      {values: "true", with: "--estimator=oracle", fails: true},
	}},
	"train": {networkWires, hedgeWires, {
		"method":               {values: "source marsg wd dann iw-wd"},
		"proportions":          {values: "stream 0.5,0.3,0.2 0.2,0.3,0.5 mte refit cc bbse bbse-soft rlls em", with: "--hold-out=3 --epochs=20 --start-align=12 --reestimate-every=6 --lambda=0.01"},
		"decision":             {values: "accuracy balanced"},
		"beta":                 {values: "1 2", with: "--method=wd"},
		"schedule":             {values: "paper", with: slow},
		"as-published-code":    {values: "true", with: slow},
		"augment":              {values: "columns noise=0.5"},
		"assume":               {values: hedgeWires["assume"].values, with: "--method=hedge", bare: true},
		"classifier":           {values: hedgeWires["classifier"].values, with: "--method=hedge", bare: true},
		"start-align":          {values: "0 2"},
		"reestimate-every":     {values: "1 2", with: "--proportions=em"},
		"critic-steps":         {values: "1 3"},
		"lambda":               {values: "0.1 0.2"},
		"gamma":                {values: "1 2"},
		"critic-learning-rate": {values: "0.01 0.02"},
		"class-loss":           {values: "plain balanced"},
		"penalty-points":       {values: "all"},
		"batches":              {values: "fresh"},
		"decay-from":           {values: "1 2"},
		"average-from":         {values: "1 2"},
		"checkpoint":           {values: "out/checkpoint"},
		"checkpoint-every":     {values: "1", with: "--checkpoint=out/checkpoint"},
		"save":                 {values: "out/other.safetensors"},
		"metrics":              {values: "out/epochs.arrow"},
		"select":               {values: "class-loss=balanced lambda=0.1,0.2;gamma=1"},
		"score":                {values: "entropy", with: "--method=source --select=learning-rate=0.0001,0.001,0.01;epochs=1", bare: true},
		"init":                 {values: "model.safetensors"},
		"load":                 {values: "model.safetensors", bare: true},
		"embedding":            {values: "embedding2", with: "--method=gmm-ot", bare: true},
		"weight":               {values: "weight2", with: "--proportions=stream"},
		"matched":              {values: "matched2", with: "--proportions=stream --weight=none"},
		"typicality":           {values: "t", with: "--method=hedge", bare: true},
	}},
	"predict": {fileWires, {
		"bad-images":      {values: "skip", with: "--model=listed.safetensors --target=torn.csv", fails: true},
		"image-column":    {values: "other", with: "--model=listed.safetensors --target=listed.csv"},
		"model":           {values: "tables.safetensors tables2.safetensors", fails: true},
		"decision":        {values: "balanced none"},
		"keep":            {values: "all key"},
		"separator":       {values: "|", with: "--model=bars.safetensors --target=bars.csv", fails: true},
		"decimal":         {values: ",", with: "--model=commas.safetensors --target=commas.csv", fails: true},
		"thousands":       {values: "_", with: "--model=grouped.safetensors --target=grouped.csv", fails: true},
		"comment":         {values: "1", with: "--model=tables.safetensors --target=target.csv"},
		"skip-lines":      {values: "1", with: "--model=tables.safetensors --target=target.csv", fails: true},
		"no-header":       {values: "true", with: "--model=tables.safetensors --target=target.csv", fails: true},
		"encoding":        {values: "latin1", with: "--model=accents.safetensors --target=accents.csv"},
		"features":        {values: "features2", with: onStream, rows: "weighted.arrow", bare: true},
		"embedding":       {values: "embedding2", with: "--model=images.safetensors", rows: "images.arrow", bare: true},
		"prediction":      {values: "p", with: onStream, rows: "weighted.arrow", bare: true},
		"predicted-class": {values: "c", with: onStream, rows: "weighted.arrow", bare: true},
		"probability":     {values: "r", with: onStream, rows: "weighted.arrow", bare: true},
		"typicality":      {values: "t", with: "--model=tables.safetensors", rows: "tables.arrow", bare: true},
	}},
	"eval": {{
		"json":        {values: "true"},
		"report":      {values: refused}, // for the eye
		"prediction":  {values: "prediction2"},
		"domain":      {values: "domain3"},
		"label":       {values: "label2", rows: "bare.arrow"},
		"weight":      {values: "weight2", rows: "bare.arrow"},
		"output":      {values: "out/other.csv"},
		"scores":      {values: "true"},
		"probability": {values: "probability2", with: "--scores"},
		"unseen":      {values: "unseen2", with: "--scores", rows: "held.arrow"},
		"features":    {values: "features2", with: "--scores", rows: "held.arrow"},
	}},
	"proportions": {fileWires, hedgeWires, labelWires, {
		"simultaneous": {values: "true", with: "--labels=answers2.csv"},
		"method":       {values: "mte"},
		"bootstrap":    {values: "6 7"},
		"level":        {values: "0.5 0.8"},
		"json":         {values: "true"},
		"report":       {values: refused},
		"details":      {values: "true", with: twoTables, bare: true},
		"each-target":  {values: "files", with: twoTables, bare: true},
		"epochs":       {values: "1 2", with: "images", among: true},
		"augment":      {values: "affine photos", with: "images", among: true},
		"id":           {values: "key", idle: true}, // no row is named
		"file-column":  {values: "file", idle: true},
		"domain":       {values: "domain2", rows: "toy.arrow", bare: true},
		"features":     {values: "features2", rows: "toy.arrow", bare: true},
		"embedding":    {values: "embedding2", rows: "images.arrow", bare: true},
	}},
	"label": {fileWires, hedgeWires, labelWires, {
		"method":      {values: "source marsc marsg dann translate"},
		"decision":    {values: "balanced none"},
		"keep":        {values: "all key"},
		"each-target": {values: "files", with: twoTables, fails: true},
		"report":      {values: refused},
		"summary":     {values: refused}, // of the same labels
		"unknown":     {values: "0.3 0.5"},
		"confidence":  {values: "0.9 0.99"},
		"epochs":      {values: "1 2", with: "images", among: true},
		"augment":     {values: "affine photos", with: "images --method=self-training", among: true},
		"save":        {values: "out/other.safetensors"},
		"domain":      {values: "domain2", rows: "toy.arrow", bare: true},
		"features":    {values: "features2", rows: "toy.arrow", bare: true},
		"embedding":   {values: "embedding2", rows: "images.arrow", bare: true},
	}},
}
