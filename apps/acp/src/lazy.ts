// Everything that is needed once there is a session; loaded after the client was greeted.
export { openHome } from './home.js'
export { openSession } from './open-session.js'
