import { errorLine, HermesError } from '@hermes/contracts'

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full; free some space, then try again',
  EDQUOT: "the user's disk quota is used up; free some space, then try again",
  EROFS: 'the file system is mounted read-only',
  EACCES: 'the permissions of the home do not allow it',
}

/** Why the system did not write, for a line; `null` for what failed otherwise. */
export function diskReason(error: unknown): string | null {
  const cause = HermesError.isInstance(error) && error.code === 'files.not_writable' ? error.cause : error
  return REASONS[String((cause as NodeJS.ErrnoException | undefined)?.code)] ?? null
}

/**
 * Does what brings files of a skill onto the disk; `name` is for the line.
 * @throws HermesError `skills.not_kept`, for what the system did not do
 */
export async function keep<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const reason = diskReason(cause)
    if (reason === null && HermesError.isInstance(cause)) throw cause
    throw notKept(name, reason ?? errorLine(cause), cause)
  }
}

/** An error of the code `skills.not_kept`. */
export const notKept = (name: string, reason: string, cause: unknown): HermesError =>
  new HermesError(`${name} could not be kept, and nothing was changed: ${reason}.`, { code: 'skills.not_kept', cause })
