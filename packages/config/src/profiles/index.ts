export { exportProfile, importProfile, type ProfileArchive } from './archive.js'
export {
  createProfile,
  deleteProfile,
  describeProfile,
  findProfile,
  listProfiles,
  type Profile,
  renameProfile,
  stickToProfile,
} from './manage.js'
