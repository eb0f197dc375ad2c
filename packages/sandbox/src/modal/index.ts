export type { ModalOptions } from './modal-options.js'
export { openModalEnvironment, probeModal } from './open-modal.js'
