interface NamedField {
  readonly fieldId: string
  readonly label: string
}

/**
 * The field that one of a former version is now: itself, or else the one that has its label. A field that was taken out and came
 * back has another id, and one that was there then, too, is not taken for it.
 */
export const fieldNow = <Field extends NamedField>(
  { fieldId, label }: NamedField,
  then: readonly NamedField[],
  now: readonly Field[],
): Field | undefined =>
  now.find((one) => one.fieldId === fieldId) ??
  now.find((one) => one.label === label && !then.some((other) => other.fieldId === one.fieldId))
