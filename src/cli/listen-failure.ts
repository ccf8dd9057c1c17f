import { type CommandFailure, usageFailure } from './failure.ts'

/** The failure for a port or host that cannot be used. */
export function listenFailure({ code, message }: NodeJS.ErrnoException, port: number, host: string): CommandFailure {
  switch (code) {
    case 'EADDRINUSE':
      return usageFailure(
        `port ${port} is already in use`,
        'stop the program that uses it, or choose another port with --port (0: any free port)',
      )
    case 'EACCES':
      return usageFailure(`permission denied to listen on port ${port}`, 'choose a port above 1023 with --port')
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return usageFailure(`"${host}" is not an address of this machine`, 'without --host it listens on 127.0.0.1')
    default:
      return usageFailure(`cannot listen on ${host}:${port}: ${code ?? message}`)
  }
}
