import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('geodata', {
  BUSY: [409, 'another update of geodata is under way'],
  NO_SOURCE: [404, 'this file has no source'],
  DOWNLOAD: [502, 'the file cannot be downloaded; the previous one stays'],
  UNKNOWN: [404, 'there is no such file or category'],
  DAMAGED: [422, 'the file is not geodata that the core can read'],
});
