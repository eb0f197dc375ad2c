import { HermesError } from '@hermes/contracts'
import { fileError } from '../file-error.js'

/** What the C libraries of Linux (glibc, musl), macOS and the BSDs call the failures of file operations. */
const WORDS: readonly (readonly [words: RegExp, code: string])[] = [
  [/No such file or directory|nonexistent directory/, 'ENOENT'],
  [/Permission denied/, 'EACCES'],
  [/Operation not permitted/, 'EPERM'],
  [/Read-only file system/, 'EROFS'],
  [/No space left on device/, 'ENOSPC'],
  [/quota exceeded/i, 'EDQUOT'],
  [/Is a directory/, 'EISDIR'],
  [/Not a directory/, 'ENOTDIR'],
  [/File exists/, 'EEXIST'],
  [/Directory not empty/, 'ENOTEMPTY'],
  [/resource busy|Resource busy|Text file busy/, 'EBUSY'],
  [/Too many levels of symbolic links|Symbolic link loop/, 'ELOOP'],
  [/File ?name too long/, 'ENAMETOOLONG'],
]

/** The system code, for example `ENOENT`, behind what a program printed; `undefined` when it says nothing known. */
export function remoteSystemCode(stderr: string): string | undefined {
  return WORDS.find(([words]) => words.test(stderr))?.[1]
}

/** A file operation that failed over there, as the same error that it is here. */
export function remoteFileError(stderr: string, doing: string, path: string): HermesError {
  const reason = /HERMES:(\w+)/.exec(stderr)?.[1]
  const make = (message: string, code: string) => new HermesError(message, { code, details: { path } })
  switch (reason) {
    case 'is_directory':
      return make(`Cannot ${doing} ${path}: it is a directory, not a file.`, 'environment.is_directory')
    case 'not_a_file':
      return make(`Cannot ${doing} ${path}: it is a device, pipe or socket, not a file.`, 'environment.not_a_file')
    case 'changed':
      return make(`${path} changed since it was read; read it again before writing.`, 'environment.changed')
    case 'removed':
      return make(`${path} was removed since it was read; read it again before writing.`, 'environment.changed')
    case 'cut':
      return make(
        `Cannot ${doing} ${path}: the connection ended before all of it was sent.`,
        'environment.connection_lost',
      )
    case 'damaged':
      return make(
        `Cannot ${doing} ${path}: what arrived is not what was sent, so the file was left as it was. Try again.`,
        'environment.damaged',
      )
    default:
      return fileError(systemError(stderr), doing, path)
  }
}

function systemError(stderr: string): Error {
  const lastLine = stderr.trim().split('\n').at(-1) ?? ''
  const code = remoteSystemCode(stderr)
  return Object.assign(new Error(lastLine), { code: code ?? (lastLine || undefined) })
}
