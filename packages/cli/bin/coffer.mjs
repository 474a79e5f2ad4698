#!/bin/sh
':' //; for word do shift; set -- "$@" "=$word"; done; exec node -- "$0" = "$@"

// The shell reads the line above and starts this file with Node; for Node that line is a string and a comment. Node reads
// options of its own, such as --env-file, from anywhere in its command line, so the shell puts `=` before every word, and a
// `=` alone before all of them. `start.mjs` takes them away.
import "./start.mjs";
