/** How a server is reached. */
export type ServerAddress =
  | {
      readonly type: 'stdio'
      readonly argv: readonly [program: string, ...args: string[]]
      /** Absolute. Default: the user's home folder. */
      readonly cwd?: string
      /** Added to the few variables that every server gets. */
      readonly env: Readonly<Record<string, string>>
      /** Held in the isolation that commands are held in. Default `false`: a server is a program that the person chose. */
      readonly isIsolated: boolean
    }
  | {
      readonly type: 'http'
      readonly url: string
      readonly headers: Readonly<Record<string, string>>
      /** Speaks the older transport with events alone. Default: found out. */
      readonly isSse: boolean
    }

/** Which of a server's tools are there; names as the server has them, `*` stands for anything. */
export interface ToolFilter {
  /** Where there are any, only these. They count more than `exclude`. */
  readonly include: readonly string[]
  readonly exclude: readonly string[]
  /** Whether its resources are tools too. Default `true`. */
  readonly resources: boolean
  /** Whether its prompts are commands. Default `true`. */
  readonly prompts: boolean
}

/** What a server may ask of the model of the home. */
export interface SamplingLimits {
  readonly isEnabled: boolean
  /** The models that may answer. Empty: any. */
  readonly models: readonly string[]
  /** Tokens of one answer. Default 4,096. */
  readonly maxTokens: number
  /** Default 10. */
  readonly perMinute: number
  /** Default 30,000. */
  readonly timeoutMs: number
}

/** One entry of `mcp_servers`. */
export interface ServerSettings {
  readonly name: string
  /** Tells its program or address from others, whatever tokens it is given. */
  readonly identity: string
  readonly address: ServerAddress
  readonly isEnabled: boolean
  /** One call, without news of it. Default 300,000. */
  readonly timeoutMs: number
  /** Default 60,000. */
  readonly connectTimeoutMs: number
  /** Ended after so long without a call, and started again by the next one. Default `null`: never. */
  readonly idleMs: number | null
  /** Started anew by a call after so long. Default `null`: never. */
  readonly lifetimeMs: number | null
  readonly tools: ToolFilter
  /** `untrusted`: a person is asked about every tool that does not say that it only reads. Default `full`. */
  readonly trust: 'full' | 'untrusted'
  readonly protocol: 'auto' | 'stateless' | 'legacy'
  /** Whether its calls may overlap. Default: those that only read. */
  readonly isParallel: boolean
  readonly sampling: SamplingLimits
  /** How long a person has for a question of the server; `null` where it may ask none. Default 300,000. */
  readonly elicitationMs: number | null
  readonly oauth: OAuthSettings
}

/** How a person logs in at a server. */
export interface OAuthSettings {
  /** Whether a login is sent where there is one; not with `auth: header` or `none`. */
  readonly isAllowed: boolean
  readonly clientId?: string
  readonly clientSecret?: string
  readonly scope?: string
  /** Who logs in: a person in a browser, or this program with its own secret or key. Default a person. */
  readonly grant: 'authorization_code' | 'client_credentials'
  /** PKCS #8 in PEM, in place of a secret, with `client_credentials`. */
  readonly privateKey?: string
  /** Of {@link privateKey}. Default ES256. */
  readonly signingAlgorithm?: string
  /** The authorization server that a login is had from; always there with a secret or key. Default: the one that the server names. */
  readonly issuer?: string
  /** Where a document about Hermes as a client stands, for servers that take its address as client id. Default: Hermes is registered. */
  readonly clientMetadataUrl?: string
  /** The port of this machine that the browser comes back to. Default: a free one. */
  readonly redirectPort?: number
}
