// Stands in for Electron where a layer must run without it: every named import is an error.
export {}
