import { errorLine, HermesError } from '@hermes/contracts'

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full; free some space, then try again',
  EDQUOT: "the user's disk quota is used up; free some space, then try again",
  EROFS: 'the file system is mounted read-only',
  EACCES: 'the permissions of the home do not allow it',
}

/**
 * Does what brings files of a skill onto the disk; `name` is for the line.
 * @throws HermesError `skills.not_kept`, for what the system did not do
 */
export async function keep<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (HermesError.isInstance(cause)) throw cause
    const reason = REASONS[String((cause as NodeJS.ErrnoException).code)] ?? errorLine(cause)
    throw new HermesError(`${name} could not be kept, and nothing was changed: ${reason}.`, {
      code: 'skills.not_kept',
      cause,
    })
  }
}
