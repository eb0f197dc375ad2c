import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Whether this machine has a browser that Hermes finds. */
export const hasChromium = (process.env['PATH'] ?? '')
  .split(delimiter)
  .some((folder) =>
    ['chromium', 'google-chrome', 'google-chrome-stable'].some((name) => existsSync(join(folder, name))),
  )
