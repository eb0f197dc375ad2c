export { webDoctor } from './doctor.js'
export type { RenderPage } from './page/read-page.js'
export { createWeb, type OwnProviders, type Web, type WebOptions } from './web.js'
