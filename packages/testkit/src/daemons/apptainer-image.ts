import { execFileSync } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeBusyboxRoot } from './busybox-root.js'
import { findProgram, missingPrograms } from './programs.js'

/** An image that apptainer or singularity starts containers from. */
export interface ApptainerImage {
  /** The engine. */
  readonly program: string
  /** Variables of its client. */
  readonly env: Readonly<Record<string, string>>
  /** A folder with busybox and nothing else. */
  readonly image: string
  /** A folder for files of the test; removed with the image. */
  readonly directory: string
  remove(): Promise<void>
}

/**
 * What keeps {@link makeApptainerImage} from working here; `null` when nothing does. `wanted` is a program to use instead of the
 * installed one, for example one that starts it as another user.
 */
export function apptainerMissing(wanted: string | undefined): string | null {
  if (wanted !== undefined) return missingPrograms('busybox')
  if (missingPrograms('apptainer') && missingPrograms('singularity')) return 'not installed: apptainer'
  return missingPrograms('busybox') ?? (process.getuid?.() === 0 ? 'root may not start these containers' : null)
}

/** Makes a small image with the engine itself. @throws when it cannot. */
export async function makeApptainerImage(wanted: string | undefined): Promise<ApptainerImage> {
  const program = wanted ?? findProgram('apptainer') ?? findProgram('singularity') ?? 'apptainer'
  const directory = await mkdtemp(join(tmpdir(), 'hermes-apptainer-'))
  await chmod(directory, 0o777)
  const [root, image] = [join(directory, 'root'), join(directory, 'image')]
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', HOME: directory, TMPDIR: directory }
  await makeBusyboxRoot(root)
  execFileSync(program, ['build', '--sandbox', image, root], { env, stdio: 'ignore' })
  const remove = () => rm(directory, { recursive: true, force: true, maxRetries: 3 })
  return { program, env, image, directory, remove }
}
