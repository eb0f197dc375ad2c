import { HermesError } from '@hermes/contracts'

const CAUSES: Readonly<Record<string, readonly [code: string, reason: string]>> = {
  ENOENT: ['not_found', 'it does not exist.'],
  EACCES: ['permission', 'the permissions of the file or its directory do not allow it.'],
  EPERM: ['permission', 'the operating system does not permit it for this user.'],
  EROFS: ['read_only', 'the file system is mounted read-only.'],
  ENOSPC: ['no_space', 'the disk is full; free some space first.'],
  EDQUOT: ['no_space', "the user's disk quota is used up; free some space first."],
  EISDIR: ['is_directory', 'it is a directory, not a file.'],
  ENOTDIR: ['not_a_directory', 'a part of the path is a file, not a directory.'],
  EEXIST: ['exists', 'something is there already.'],
  ENOTEMPTY: ['not_empty', 'the directory is not empty.'],
  EBUSY: ['busy', 'it is in use, for example as a mount point.'],
  EXDEV: ['other_device', 'source and target are on different file systems; copy it, then remove the source.'],
  ELOOP: ['link_loop', 'its symbolic links form a loop.'],
  ENAMETOOLONG: ['invalid_path', 'the path is too long.'],
  ERR_INVALID_ARG_VALUE: ['invalid_path', 'the path holds a null character.'],
  ERR_FS_FILE_TOO_LARGE: ['too_large', 'the file is too large to read whole; read a part of it.'],
}

/** Of a longer path the rest tells nobody anything. */
const MAX_SHOWN_CHARS = 500

/** The system's code of a failure, for example `ENOENT`; `undefined` when it has none. */
export function systemCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : undefined
}

/** Somebody laid a link after leave was given for a path that had none. */
export function linkCame(path: string): HermesError {
  return new HermesError(`${path} leads somewhere else by now: a link was laid on the way. Nothing was done.`, {
    code: 'environment.changed',
    details: { path },
  })
}

/** A file operation's failure as one line: what could not be done (`doing`, for example `write`) to `path`, and why. */
export function fileError(error: unknown, doing: string, path: string): HermesError {
  if (HermesError.isInstance(error)) return error
  const system = systemCode(error)
  const [code, reason] = (system && CAUSES[system]) || ['io', `the system answered ${system ?? String(error)}.`]
  const shown = path.length > MAX_SHOWN_CHARS ? `${path.slice(0, MAX_SHOWN_CHARS).toWellFormed()}…` : path
  return new HermesError(`Cannot ${doing} ${shown}: ${reason}`, {
    code: `environment.${code}`,
    details: { path, system },
    cause: error,
  })
}

/** Something else is where a file is wanted. */
export function notAFile(doing: string, path: string, directory: boolean): HermesError {
  const what = directory ? 'a directory' : 'a device, pipe or socket'
  return new HermesError(`Cannot ${doing} ${path}: it is ${what}, not a file.`, {
    code: directory ? 'environment.is_directory' : 'environment.not_a_file',
    details: { path },
  })
}
