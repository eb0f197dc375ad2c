// A home with a scripted model and the host of its sessions, until the test is over.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openRuntime } from '@hermes/runtime'
import { startModelServer, temporaryHome } from '@hermes/testkit'
import { onTestFinished } from 'vitest'
import { createSessionHost, type SessionHostOptions } from '../index.js'

/** `files` are those of `.hermes`, by name. Sessions work in `work`; `other` is there too. */
export async function openHome(files: Readonly<Record<string, string>>, options: Partial<SessionHostOptions> = {}) {
  const [server, temporary] = [await startModelServer(), await temporaryHome()]
  const path = (name: string) => join(temporary.path, name)
  for (const folder of ['home/.hermes', 'work', 'other']) await mkdir(path(folder), { recursive: true })
  for (const [name, text] of Object.entries(files)) await writeFile(path(`home/.hermes/${name}`), text)
  const runtime = await openRuntime({
    home: path('home/.hermes'),
    userHome: path('home'),
    env: { PATH: '/usr/bin:/bin' },
    cwd: path('work'),
    user: 'ada',
    tempDir: temporary.path,
  })
  const host = createSessionHost({ runtime, ...options })
  onTestFinished(async () => {
    await host.close()
    await runtime.close()
    await server.close()
    await temporary.remove()
  })
  return { server, runtime, host, path }
}
