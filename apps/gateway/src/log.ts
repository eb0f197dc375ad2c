import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { LogFields, Logger } from '@hermes/contracts'
import { createRedactor } from '@hermes/safety'
import type { Logger as Pino } from 'pino'

const FOLDER_MODE = 0o700
const FILE_MODE = 0o600

/** Logs as JSON lines to `logs/gateway.log` of the home, never to the terminal. The library loads at the first line. */
export function createFileLogger(home: string): Logger {
  const redactor = createRedactor({ secrets: [] })
  let pino: Promise<Pino | null> | null = null
  const write =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, fields: LogFields = {}) => {
      pino ??= openLog(home)
      void pino.then((log) => log?.[level](clean(fields), redactor.redact(message)))
    }
  const clean = (fields: LogFields): LogFields =>
    Object.fromEntries(
      Object.entries(fields).map(([key, value]) => [key, typeof value === 'string' ? redactor.redact(value) : value]),
    )
  return { debug: () => undefined, info: write('info'), warn: write('warn'), error: write('error') }
}

async function openLog(home: string): Promise<Pino | null> {
  try {
    const folder = join(home, 'logs')
    mkdirSync(folder, { recursive: true, mode: FOLDER_MODE })
    const { default: pino } = await import('pino')
    return pino({ level: 'info' }, pino.destination({ dest: join(folder, 'gateway.log'), mode: FILE_MODE, sync: true }))
  } catch {
    return null
  }
}
