# Runs irace. Each run is asked for by a line on standard output, among irace's own, and answered by
# a line on standard input: cost and time, in the scenario's units.
library(irace)
answers <- file("stdin", "r")
ask <- function(experiment, scenario) {
  values <- experiment$configuration
  texts <- vapply(values, function(value) format(value, digits = 15, scientific = FALSE, trim = TRUE), "")
  bound <- if (is.null(experiment$bound)) scenario$boundMax else experiment$bound
  cat("RUN", experiment$id.configuration, experiment$instance, bound,
      paste(names(values), texts, sep = "="), sep = "\t")
  cat("\n")
  flush(stdout())
  answer <- as.numeric(strsplit(readLines(answers, 1), " ")[[1]])
  list(cost = answer[1], time = answer[2])
}
writeLines(as.character(packageVersion("irace")), "version.txt")
scenario <- readScenario("scenario.txt")
scenario$targetRunner <- ask
invisible(irace.main(scenario))
