/** A program of this machine whose standard input and output become those of a command on the other side. */
export interface HostClient {
  readonly program: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}
