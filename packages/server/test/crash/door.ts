/** Many wait before it while it is closed. It begins closed. */
export interface Door {
  open(): void
  close(): void
  pass(): Promise<void>
}

export function makeDoor(): Door {
  let wake: () => void = () => undefined
  let opened: Promise<void> | undefined
  const close = (): void => {
    opened ??= new Promise((resolve) => {
      wake = resolve
    })
  }
  close()
  return {
    close,
    open: () => {
      opened = undefined
      wake()
    },
    pass: async () => {
      while (opened) await opened
    },
  }
}
