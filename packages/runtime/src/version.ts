declare const __HERMES_VERSION__: string | undefined

/** Of the app that this is a part of; `development` where it runs from sources. */
export const HERMES_VERSION = typeof __HERMES_VERSION__ === 'string' ? __HERMES_VERSION__ : 'development'
