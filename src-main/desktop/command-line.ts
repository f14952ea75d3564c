/** `anet-desktop --cli status` is the `anet` command of the package. Undefined: the window is wanted. */
export function commandLineArguments(argv: readonly string[]): readonly string[] | undefined {
  const at = argv.indexOf('--cli')
  return at < 0 ? undefined : argv.slice(at + 1)
}
