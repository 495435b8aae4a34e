import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('system', {
  UNKNOWN: [404, 'there is no such plugin'],
  ESSENTIAL: [409, 'the panel cannot start without this plugin'],
  IN_USE: [409, 'other plugins need this one; disable them first'],
  WOULD_NOT_START: [409, 'the panel would not start with this'],
  NOT_WRITABLE: [409, 'the config file cannot be written; change it by hand'],
  BUSY: [409, 'the panel is already restarting; try again in a moment'],
  NO_JOB: [404, 'there is no such job'],
  JOB_RUNS: [409, 'the job is already running'],
  JOB_RESTS: [409, 'the plugin of this job is not running'],
  NO_PROGRAM: [503, 'this panel is part of another program, which controls its plugins'],
});
