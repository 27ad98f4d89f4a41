package brokenlines

// file is where lines are noted: a survey writes its own.
const file = ""
