// Which errors of MySQL and MariaDB are failures of the server, and not of a statement.
import { ConnectionError } from 'sequelize';
import type { Classify } from '../../kernel/database/storage.js';
import { DatabaseTaken } from './database-taken.js';

const FULL = /^ER_(?:DISK_FULL|RECORD_FILE_FULL|ERROR_ON_WRITE|TEMP_FILE_WRITE_FAILURE)$/;
/** No space, or over quota, as a storage engine reports it (ER_GET_ERRNO). */
const FULL_BY_NUMBER = /\berror (?:28|122)\b/;
const READ_ONLY =
  /^ER_(?:OPTION_PREVENTS_STATEMENT|READ_ONLY_MODE|CANT_EXECUTE_IN_READ_ONLY_TRANSACTION|OPEN_AS_READONLY)$/;
/** The server stops, or has ended the connection; 1927 is of MariaDB alone. */
const GONE = /^(?:ER_SERVER_SHUTDOWN|ER_CON_COUNT_ERROR|ER_TOO_MANY_USER_CONNECTIONS)$/;
const CONNECTION_KILLED = 1927;
/** The transaction was rolled back for another one: a deadlock, which is also how Galera reports two writes of the same rows on two machines, a wait that took too long, a row that changed after the snapshot (MariaDB from 11.6 on), or a statement that somebody has ended (KILL QUERY). */
const BUSY = /^ER_(?:LOCK_DEADLOCK|LOCK_WAIT_TIMEOUT|CHECKREAD|QUERY_INTERRUPTED)$/;
/** Of Galera: the server has lost the others and answers nothing (1047, whose name is of something else), or lost them during a commit, which the others may have. */
const CUT_OFF = /^ER_(?:UNKNOWN_COM_ERROR|ERROR_DURING_COMMIT)$/;

interface ServerError {
  readonly code?: string;
  readonly errno?: number;
  readonly message?: string;
  /** the connection cannot be used any more */
  readonly fatal?: boolean;
}

export const classify: Classify = (error) => {
  if (error instanceof DatabaseTaken) return 'taken';
  if (error instanceof ConnectionError) return 'away';
  // Sequelize keeps the cause in `parent`.
  const { parent = error } = error as { readonly parent?: unknown };
  const { code = '', errno, message = '', fatal = false } = parent as ServerError;
  if (FULL.test(code) || (code === 'ER_GET_ERRNO' && FULL_BY_NUMBER.test(message))) return 'full';
  if (READ_ONLY.test(code)) return 'readOnly';
  if (BUSY.test(code)) return 'busy';
  return fatal || errno === CONNECTION_KILLED || GONE.test(code) || CUT_OFF.test(code) ? 'away' : undefined;
};
