import { HermesError } from '@hermes/contracts'

/** What ssh says when it fails, and what that means. The first that matches counts. @see OpenSSH sshconnect.c, sshconnect2.c, clientloop.c */
const CAUSES: readonly {
  readonly words: RegExp
  readonly code: string
  readonly retryable?: boolean
  readonly line: (host: string) => string
}[] = [
  {
    words: /REMOTE HOST IDENTIFICATION HAS CHANGED|Offending .* key in/,
    code: 'host_key_changed',
    line: (host) =>
      `The host key of ${host} is not the one on record: the machine was reinstalled, or somebody is in between. If the change is known, remove the old key with ssh-keygen -R.`,
  },
  {
    words: /Host key verification failed|No .* host key is known/,
    code: 'host_key_unknown',
    line: (host) =>
      `The host key of ${host} is not known yet. Connect once with ssh, compare its fingerprint and accept it.`,
  },
  {
    words: /Permission denied \(|Too many authentication failures|no mutual signature/,
    code: 'auth_failed',
    line: (host) => `${host} refuses the login: no key that it accepts. Load one into ssh-agent, or set the key file.`,
  },
  {
    words: /Connection refused/,
    code: 'connection_refused',
    retryable: true,
    line: (host) => `${host} refuses connections: no ssh server listens there. Check host and port.`,
  },
  {
    words: /Connection timed out|Operation timed out|Connection to .* timed out|timed out during banner exchange/,
    code: 'connect_timeout',
    retryable: true,
    line: (host) => `${host} does not answer in time. Check that it is up and reachable from here.`,
  },
  {
    words: /Could not resolve hostname/,
    code: 'unknown_host',
    line: (host) => `The name of ${host} is not known here. Check its spelling, and the network.`,
  },
  {
    words: /No route to host|Network is unreachable/,
    code: 'unreachable',
    retryable: true,
    line: (host) => `${host} cannot be reached from here. Check the network.`,
  },
  {
    words: /[Bb]ad (configuration|owner or permissions)|Identity file .* not accessible|UNPROTECTED PRIVATE KEY FILE/,
    code: 'bad_ssh_config',
    line: (host) => `ssh to ${host} is not set up well.`,
  },
]

/** A failure of the ssh client as one line. `name` is what to call the host. */
export function sshFailure(name: string, exitCode: number | null, stderr: string): HermesError {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('debug'))
  const last = (lines.at(-1) ?? '').trim()
  const details = { host: name, exitCode, ...(last === '' ? {} : { said: last }) }
  const cause = CAUSES.find(({ words }) => words.test(stderr))
  if (cause) {
    const { code, retryable = false, line } = cause
    return new HermesError(line(name), { code: `environment.${code}`, retryable, details })
  }
  return new HermesError(`The connection to ${name} was lost${last === '' ? '' : `: ${last.replace(/\.$/, '')}`}.`, {
    code: 'environment.connection_lost',
    retryable: true,
    details,
  })
}
