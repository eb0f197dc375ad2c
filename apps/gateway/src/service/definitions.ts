// The gateway as supervisors are told of it: a systemd unit of the user, and a launchd agent.
import { createHash } from 'node:crypto'
import { join } from 'node:path'

/** What is to be started, and how. */
export interface Service {
  /** Of this home alone. */
  readonly name: string
  readonly home: string
  readonly cwd: string
  /** Program and arguments. */
  readonly command: readonly string[]
  readonly variables: Readonly<Record<string, string>>
  /** Seconds it may take to end. */
  readonly stopSeconds: number
}

/** The name of the service of a home; the home of most people has the short one. */
export function serviceName({ home, userHome, profile }: { home: string; userHome: string; profile?: string }): string {
  if (profile !== undefined && /^[\w-]+$/.test(profile)) return `hermes-gateway-${profile}`
  if (home === join(userHome, '.hermes')) return 'hermes-gateway'
  return `hermes-gateway-${createHash('sha256').update(home).digest('hex').slice(0, 8)}`
}

/**
 * Started at login, and again after a crash or exit code 75; not after 2 and 78, which only a person can mend, nor after a stop.
 * https://www.freedesktop.org/software/systemd/man/systemd.service.html
 */
export function systemdUnit({ home, cwd, command, variables, stopSeconds }: Service): string {
  const environment = Object.entries({ ...variables, HERMES_SUPERVISOR: 'systemd' })
    .map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}\n`)
    .join('')
  return `[Unit]
Description=Hermes gateway of ${home.replaceAll('%', '%%')}
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=600
StartLimitBurst=8

[Service]
Type=exec
ExecStart=${command.map((word) => quoted(word).replaceAll('$', '$$$$')).join(' ')}
ExecReload=/bin/kill -HUP $MAINPID
WorkingDirectory=${cwd.replaceAll('%', '%%')}
${environment}Restart=on-failure
RestartSec=5
RestartForceExitStatus=75
RestartPreventExitStatus=2 78
KillMode=mixed
TimeoutStopSec=${stopSeconds}
UMask=0077

[Install]
WantedBy=default.target
`
}

/** `%` begins a specifier, and quotes and backslashes are those of C. */
function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('%', '%%')}"`
}

/** launchd starts it again after every exit code but 0; the gateway gives it that one where only a person can mend it. */
export function launchdAgent({ name, home, cwd, command, variables, stopSeconds }: Service): string {
  const log = join(home, 'logs', 'gateway.out')
  const entries = {
    Label: launchdLabel(name),
    ProgramArguments: command,
    WorkingDirectory: cwd,
    EnvironmentVariables: { ...variables, HERMES_SUPERVISOR: 'launchd' },
    RunAtLoad: true,
    KeepAlive: { SuccessfulExit: false },
    ThrottleInterval: 10,
    ExitTimeOut: stopSeconds,
    Umask: 0o077,
    StandardOutPath: log,
    StandardErrorPath: log,
  }
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
${plistValue(entries)}
</plist>
`
}

export function launchdLabel(name: string): string {
  return `ai.${name.replace('-', '.')}`
}

type PlistValue = string | number | boolean | readonly string[] | { readonly [key: string]: PlistValue }

function plistValue(value: PlistValue): string {
  if (typeof value === 'string') return `<string>${escaped(value)}</string>`
  if (typeof value === 'number') return `<integer>${value}</integer>`
  if (typeof value === 'boolean') return value ? '<true/>' : '<false/>'
  if (Array.isArray(value)) return `<array>${value.map(plistValue).join('')}</array>`
  const pairs = Object.entries(value).map(([key, one]) => `<key>${escaped(key)}</key>${plistValue(one)}`)
  return `<dict>\n${pairs.join('\n')}\n</dict>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
