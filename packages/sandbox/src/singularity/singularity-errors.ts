import { HermesError } from '@hermes/contracts'

const CAUSES: readonly { readonly words: RegExp; readonly code: string; readonly line: string }[] = [
  {
    words: /no instance found/i,
    code: 'container_gone',
    line: 'The container was ended by somebody else. Start a new session to get another.',
  },
  {
    words:
      /could not open image|image does not exist|unable to pull|while making image from oci|unauthorized|manifest unknown|no such host|connection refused/i,
    code: 'image_missing',
    line: 'The container image is not there and cannot be fetched. Check its name and the network.',
  },
  {
    words: /user namespace|capability set|setuid|not permitted/i,
    code: 'engine_permission',
    line: 'This machine does not let you start containers: user namespaces are off, or the engine is not set up for them.',
  },
]

/** A failure of apptainer or singularity as one line. */
export function singularityFailure(exitCode: number | null, stderr: string): HermesError {
  const last = /(?:FATAL|ERROR):\s+(.+)/.exec(stderr)?.[1] ?? stderr.trim().split('\n').at(-1) ?? ''
  const details = { exitCode, ...(last === '' ? {} : { said: last }) }
  const cause = CAUSES.find(({ words }) => words.test(stderr))
  if (cause) return new HermesError(cause.line, { code: `environment.${cause.code}`, details })
  return new HermesError(`The container engine failed${last === '' ? '' : `: ${last.replace(/\.$/, '')}`}.`, {
    code: 'environment.engine_failed',
    details,
  })
}
