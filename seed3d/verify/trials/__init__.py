"""Dynamic tests beyond the drop: tilt table, push, stack, ball, gripper, drift; any engine."""
