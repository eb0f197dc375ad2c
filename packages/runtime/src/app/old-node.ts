// Runs on Node versions that the rest cannot load on: nothing here is newer than ES2020.

const REQUIRED = [22, 22]

/** Whether this Node is too old; says so in one line, and sets the exit code to 1. */
export function refuseOldNode(host: NodeJS.Process, program: string): boolean {
  const [major = 0, minor = 0] = host.versions.node.split('.').map(Number)
  if (major > REQUIRED[0]! || (major === REQUIRED[0] && minor >= REQUIRED[1]!)) return false
  host.stderr.write(
    `${program} needs Node ${REQUIRED.join('.')} or newer; this is ${host.version}. Install a newer Node and try again.\n`,
  )
  host.exitCode = 1
  return true
}
