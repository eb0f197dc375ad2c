export type { Extension, ExtensionApi, Route, ToolOptions } from './extension/api.js'
export type {
  Command,
  CommandCaller,
  CommandChoice,
  CommandContext,
  CommandForm,
  CommandOutput,
  CommandResult,
  CommandRow,
  CommandSession,
  CommandTable,
  CommandTask,
  CommandTasks,
  CompactChoice,
  DisplaySetting,
  SessionChange,
} from './extension/command.js'
export type { ConfigSection, ConfigValue, Registration } from './extension/config-section.js'
export type { DoctorCheck, DoctorOptions, Finding } from './extension/doctor-check.js'
export type {
  AccountVariable,
  BackendRequest,
  ChatPlatform,
  Factories,
  MemoryRequest,
  PlatformRequest,
} from './extension/factories.js'
export type {
  ActionEvent,
  AnswerEvent,
  ApprovalRequestEvent,
  ApprovalResolveEvent,
  ChildEndEvent,
  ChildEvent,
  CompactionChange,
  CompactionEvent,
  HookEvent,
  HookHandlers,
  HookName,
  HookOptions,
  HookSession,
  InputEvent,
  InputParts,
  ModelAnswerEvent,
  ModelCallEvent,
  PermitOptions,
  Rest,
  RestEvent,
  RunEndEvent,
  RunEnding,
  SessionEvent,
  SessionStartEvent,
  ToolCallEvent,
  ToolCallVerdict,
  ToolResultChange,
  ToolResultEvent,
} from './extension/hooks.js'
export type { JobHandler, JobRun } from './extension/job-handler.js'
export type { PromptSection, PromptSectionContext } from './extension/prompt-section.js'
export type { Subcommand, SubcommandContext, SubcommandHandler } from './extension/subcommand.js'
