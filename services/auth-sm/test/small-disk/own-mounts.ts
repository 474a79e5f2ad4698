/** Set where the test of a small disk has mounts of its own. */
export const ownMountsVariable = "COFFER_TEST_OWN_MOUNTS";
