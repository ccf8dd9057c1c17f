/**
 * Keeps the event loop of this process running. Otherwise each message to a sleeping process wakes it, and the sender spends
 * CPU time on that: on a virtual machine more than on the message itself.
 *
 * @returns a function that lets the process sleep again
 */
export function stayAwake(): () => void {
  let isAwake = true
  const turn = (): void => {
    if (isAwake) setImmediate(turn)
  }
  turn()
  return () => {
    isAwake = false
  }
}
