declare module '*.module.css' {
  const classes: Readonly<Record<string, string>>
  // CSS modules are imported as a default
  export default classes
}
declare module '*.css'
declare module '@fontsource-variable/inter'
declare module '@fontsource-variable/jetbrains-mono'
