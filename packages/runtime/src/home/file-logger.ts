import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { LogFields, Logger } from '@hermes/contracts'
import { createRedactor } from '@hermes/safety'
import type { Logger as Pino } from 'pino'

const FOLDER_MODE = 0o700
const FILE_MODE = 0o600

/**
 * Logs as JSON lines to `file` (mode 0600) and nowhere else; what looks like a secret is taken out. The library loads at the first
 * line, so an app that has nothing to log pays nothing. Debug lines are left out. A file that cannot be written loses its lines.
 */
export function createFileLogger(file: string): Logger {
  const redactor = createRedactor({ secrets: [] })
  let opening: Promise<Pino | null> | null = null
  let written: Promise<void> = Promise.resolve()
  const clean = (fields: LogFields): LogFields =>
    Object.fromEntries(
      Object.entries(fields).map(([key, value]) => [key, typeof value === 'string' ? redactor.redact(value) : value]),
    )
  const write =
    (level: 'info' | 'warn' | 'error') =>
    (message: string, fields: LogFields = {}) => {
      opening ??= openLog(file)
      written = opening.then((log) => log?.[level](clean(fields), redactor.redact(message)))
    }
  return {
    debug: () => undefined,
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    flush: () => written,
  }
}

async function openLog(file: string): Promise<Pino | null> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: FOLDER_MODE })
    const { default: pino } = await import('pino')
    const destination = pino.destination({ dest: file, mode: FILE_MODE, sync: true })
    // As on a full disk. Without somebody who hears of it, it would end the process, and what was said with it.
    destination.on('error', () => undefined)
    return pino({ level: 'info' }, destination)
  } catch {
    return null
  }
}
