import type { CloudOptions } from '../cloud/open-cloud.js'

/** What `openModalEnvironment` needs. Nothing is read from this program's own environment but what the package `modal` reads itself. */
export interface ModalOptions extends CloudOptions {
  readonly tokenId: string
  readonly tokenSecret: string
  /** An image of a public registry. Default `debian:12`. */
  readonly image?: string
  /** The app that sandboxes belong to, made when it is missing. Default `hermes`. */
  readonly app?: string
}
