// Everything that is needed once there is a session; loaded after the client was greeted.
export { openEditorHome } from './home.js'
export { openSession } from './open-session.js'
