export { exportProfile, importProfile } from './archive.js'
export {
  createProfile,
  deleteProfile,
  describeProfile,
  findProfile,
  listProfiles,
  renameProfile,
  stickToProfile,
} from './manage.js'
export { refuseRunningGateway } from './running-gateways.js'
