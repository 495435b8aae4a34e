// Listens for commands while the panel runs.
import { type CommandsApi, type Log, messageOf } from '../../kernel/index.js';
import { type Channel, openChannel } from './channel.js';
import { runCommand } from './run.js';

export class CommandServer {
  readonly #commands: CommandsApi;
  readonly #dataDirectory: string;
  readonly #log: Log;
  #channel: Channel | undefined;

  constructor({ commands, dataDirectory, log }: { commands: CommandsApi; dataDirectory: string; log: Log }) {
    this.#commands = commands;
    this.#dataDirectory = dataDirectory;
    this.#log = log;
  }

  async open(): Promise<void> {
    try {
      this.#channel = await openChannel(this.#dataDirectory, (argv, terminal, caller) => {
        this.#log.info('a command of the command line', {
          command: argv
            .filter((word) => !word.startsWith('-'))
            .slice(0, 2)
            .join(' '),
        });
        return runCommand(this.#commands.list(), argv, terminal, caller);
      });
    } catch (error) {
      // A panel without a command line is better than none.
      this.#log.warn('the command line cannot reach this panel', { problem: messageOf(error) });
    }
  }

  async close(): Promise<void> {
    await this.#channel?.close();
  }
}
