import { looksSecret } from '../local/filter-environment.js'

const KEPT =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TERM|VIRTUAL_ENV|CONDA_(?:PREFIX|DEFAULT_ENV)|PYENV_(?:ROOT|VERSION)|PYTHONPATH|NODE_PATH|NODE_EXTRA_CA_CERTS|SSL_CERT_(?:FILE|DIR)|XDG_\w+)$/

/** What a program gets of the variables of commands: what it needs to find its way, and nothing that looks like a secret. */
export function scriptEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  const isKept = (name: string) => KEPT.test(name) && !looksSecret(name)
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => isKept(name))),
    PYTHONUTF8: '1',
    PYTHONIOENCODING: 'utf-8:backslashreplace',
    PYTHONDONTWRITEBYTECODE: '1',
    NO_COLOR: '1',
  }
}
