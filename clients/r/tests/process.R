# How the program is found, what it says, how it ends, and what is left of it. A script of
# the shell takes the program's place.
library(marsr)
source("with/cells.R")
if (.Platform$OS.type != "unix") quit("no")
options(mars.transport = "csv")

fake <- function(...) {
  path <- file.path(tempfile("bin "), "mars")
  dir.create(dirname(path))
  writeLines(c("#!/bin/sh", ...), path)
  Sys.chmod(path, "755")
  path
}

real <- Sys.getenv("MARS_BINARY")
# The option, the environment variable and the PATH, in this order.
a <- fake("exit 3")
b <- fake("exit 4")
path <- Sys.getenv("PATH")
Sys.setenv(PATH = paste0(dirname(b), ":", path), MARS_BINARY = "")
stopifnot(identical(mars_binary(), b))
Sys.setenv(MARS_BINARY = a)
stopifnot(identical(mars_binary(), a))
options(mars.binary = b)
stopifnot(identical(mars_binary(), b))
options(mars.binary = "/none/mars")
fails(mars_binary(), "option mars.binary names /none/mars: there is no such program")
options(mars.binary = NULL)
Sys.setenv(MARS_BINARY = "/none/mars")
fails(mars_label(old, new, "celltype"), "MARS_BINARY names /none/mars")
Sys.setenv(MARS_BINARY = "", PATH = "/usr/bin:/bin")
if (!nzchar(Sys.which("mars"))) fails(mars_binary(), "not installed: build it .*PATH.*mars.binary")
Sys.setenv(PATH = path)

# Its log are messages and warnings, and what it says when it fails is the error.
log <- function(level, text) sprintf("echo '{\"level\":\"%s\",\"msg\":\"%s\"}' >&2", level, text)
run <- function(...) {
  options(mars.binary = fake(...))
  mars_label(old, new, "celltype")
}
says <- c(log("INFO", "source.csv: 3 rows"), log("WARN", "take care"), "echo 'mars label: it is \033[31mbroken\nsecond line' >&2",
          "echo \"Run 'mars label --help' for more\" >&2", "exit 2")
heard <- list()
error <- tryCatch(withCallingHandlers(run(says), mars_message = function(m) {
  heard <<- c(heard, conditionMessage(m))
  tryInvokeRestart("muffleMessage")
}, mars_warning = function(w) {
  heard <<- c(heard, conditionMessage(w))
  tryInvokeRestart("muffleWarning")
}), mars_error = identity)
stopifnot(identical(heard, list("source: 3 rows\n", "take care")), identical(conditionMessage(error), "it is \\033[31mbroken\nsecond line"), error$status == 2)
fails(run("exit 7"), "mars label ended with status 7")
fails(run("kill -9 $$"), "ended with status -9")
fails(run("printf '%0300000d' 7 >&2", "exit 1"), "^0000.*7$")

# Nothing is left in the temporary folder, however it ends.
mars_label_of <- function(text) {
  options(mars.binary = fake("echo spilt > $TMPDIR/spill", text))
  before <- list.files(tempdir())
  result <- try(mars_label(old, new, "celltype", quiet = TRUE), silent = TRUE)
  stopifnot(inherits(result, "try-error"), identical(list.files(tempdir()), before))
}
mars_label_of("exit 1")
mars_label_of("exit 0")
mars_label_of("echo not,a,table > labels.csv; : > model.safetensors; exit 0")
withr_warn <- options(warn = 2)
mars_label_of(log("WARN", "made an error"))
options(withr_warn)

# An interrupt of R ends the program, and leaves nothing.
pid <- tempfile("pid")
options(mars.binary = fake(paste0("trap '' INT; echo $$ > '", pid, "'"), "exec sleep 300"))
program <- sprintf("library(marsr); source('with/cells.R'); options(mars.binary = '%s', mars.transport = 'csv')
  tryCatch(mars_label(old, new, 'celltype'), interrupt = function(i) cat('interrupted', length(list.files(tempdir(), '^mars')), '\\n'))", getOption("mars.binary"))
child <- processx::process$new(file.path(R.home("bin"), "Rscript"), c("-e", program), stdout = "|", stderr = NULL)
for (i in 1:1200) if (file.exists(pid) && length(readLines(pid))) break else Sys.sleep(0.1)
sleeping <- as.integer(readLines(pid))
invisible(child$interrupt())
child$wait(30000)
stopifnot(grepl("interrupted 0", paste(child$read_all_output_lines(), collapse = "")), !tools::pskill(sleeping, 0))

# So does a kill, of which R knows nothing, where the program is mars itself.
options(mars.binary = NULL)
Sys.setenv(MARS_BINARY = real)
if (has_mars && nzchar(Sys.which("pgrep"))) {
  program <- "library(marsr); x <- as.data.frame(matrix(rnorm(1e6), 2e4)); x$y <- rep(c('a', 'b'), 1e4)
    mars_label(x, x[-51], 'y', method = 'marsc', epochs = 5000)"
  child <- processx::process$new(file.path(R.home("bin"), "Rscript"), c("-e", program), stdout = NULL, stderr = NULL)
  of_child <- function() suppressWarnings(as.integer(system2("pgrep", c("-x", "-P", child$get_pid(), "mars"), stdout = TRUE)))
  for (i in 1:300) if (length(working <- of_child())) break else Sys.sleep(0.1)
  Sys.sleep(1)
  child$kill()
  for (i in 1:100) if (!any(tools::pskill(working, 0))) break else Sys.sleep(0.1)
  stopifnot(length(working) > 0, !tools::pskill(working, 0))
}
