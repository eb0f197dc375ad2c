import type { StandardSchema } from '../tool.js'

/** A top-level key of config.yaml. */
export interface ConfigSection<Value = unknown> {
  readonly key: string
  /** Checks its value, and only then: a home without the key has none. It must not be asynchronous. A mistake is a problem of the home, one line. */
  readonly schema: StandardSchema<Value>
  /** Whether it says itself which `${VAR}` of its value are not set, and what follows from that. Default: Hermes does. */
  readonly namesUnset?: true
  /** What of a value has no effect although the rest has: each is a problem of the home too. Default: nothing. Must not throw. */
  problems?(value: Value): readonly { readonly path: readonly string[]; readonly message: string }[]
}

/** What a key of config.yaml holds. */
export interface ConfigValue<Value> extends Registration {
  /** As it was when the home was opened, defaults of the schema filled in; `undefined` before that, without the key, and after a mistake. */
  readonly value: Value | undefined
}

/** Something that can be taken back. */
export interface Registration {
  /** Does nothing the second time. */
  dispose(): void
}
