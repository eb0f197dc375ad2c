import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Writes the config.yaml of a home whose gateway speaks in chats and does nothing beside them, and makes its folder `work`. */
export async function writeChatHome(home: string, telegram: object, more: object = {}): Promise<void> {
  const config = {
    platforms: { telegram },
    terminal: { isolation: 'off' },
    memory: { flush_min_turns: 0 },
    streaming: { enabled: false },
    auxiliary: { title_generation: { enabled: false }, session_summary: { enabled: false } },
    ...more,
  }
  await writeFile(join(home, 'config.yaml'), JSON.stringify(config))
  await mkdir(join(home, 'work'))
}
