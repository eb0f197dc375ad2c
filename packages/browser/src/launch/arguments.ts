/** How a browser is started. */
interface LaunchOptions {
  readonly program: string
  /** Its folder, for this browser alone. */
  readonly folder: string
  readonly isHeaded: boolean
  /** Chromium's own sandbox is off: it does not work for root. */
  readonly withoutSandbox: boolean
}

/** What keeps it from speaking to anybody by itself, and from asking the person at its window. */
const QUIET = [
  '--no-first-run',
  '--no-default-browser-check',
  '--no-service-autorun',
  '--no-pings',
  // The driver counts on these.
  '--disable-back-forward-cache',
  '--disable-field-trial-config',
  '--disable-ipc-flooding-protection',
  '--disable-background-networking',
  '--disable-breakpad',
  '--disable-client-side-phishing-detection',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-dev-shm-usage',
  '--disable-domain-reliability',
  '--disable-extensions',
  '--disable-search-engine-choice-screen',
  '--disable-sync',
  '--metrics-recording-only',
  '--mute-audio',
  '--password-store=basic',
  '--use-mock-keychain',
  '--allow-pre-commit-input',
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
  '--disable-hang-monitor',
]

/** Everything that would reach the network around the proxy. */
const CONFINED = [
  // Contexts bring a proxy of their own; what belongs to none finds nobody on the discard port.
  '--proxy-server=http://127.0.0.1:9',
  '--proxy-bypass-list=<-loopback>',
  // No name is ever looked up by the browser itself.
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  '--disable-quic',
  // The `--force-` spelling of this lets STUN out.
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  `--disable-features=${[
    'AsyncDns',
    'AutofillServerCommunication',
    'CertificateTransparencyComponentUpdater',
    'DialMediaRouteProvider',
    'HttpsUpgrades',
    'MediaRouter',
    'OptimizationHints',
    'Prerender2',
    'Translate',
    'WebRtcHideLocalIpsWithMdns',
  ].join(',')}`,
]

/** The program and its arguments. */
export function launchArguments(options: LaunchOptions): readonly [string, ...string[]] {
  const { program, folder, isHeaded, withoutSandbox } = options
  return [
    program,
    ...(isHeaded ? [] : ['--headless=new']),
    '--remote-debugging-pipe',
    `--user-data-dir=${folder}`,
    ...QUIET,
    ...CONFINED,
    ...(withoutSandbox ? ['--no-sandbox'] : []),
    // Pages are of contexts; one that belongs to none would be a process for nothing.
    '--no-startup-window',
  ]
}
