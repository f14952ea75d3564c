import { runCommandLine } from './program.ts'

// not awaited at the top: a chunk that imports from this module would wait for it for ever
void runCommandLine()
