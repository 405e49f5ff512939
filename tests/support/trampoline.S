/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
/*
 * Calls with every register under the test's control, and routines that break the rules on purpose, which the tests
 * must catch. System V, ELF. The offsets are those of tests::CpuState in trampoline.hpp, which asserts them.
 */
#if defined(__x86_64__) && defined(__ELF__)

        .intel_syntax noprefix

        .set AT_VECTOR, 0          /* 32 of 64 bytes */
        .set AT_MASK, 2048         /* 8 of 8 */
        .set AT_GENERAL, 2112      /* 16 of 8, in the order of their encoding: rax rcx rdx rbx rsp rbp rsi rdi r8 ... */
        .set AT_FLAGS, 2240
        .set AT_MXCSR, 2248
        .set AT_X87_CONTROL, 2252
        .set AT_X87_TAGS, 2254
        .set AT_RSP, AT_GENERAL + 4 * 8

        .set SAVED_BYTES, 56    /* MXCSR, the x87 environment of 28 bytes, and rsp a multiple of 16 */
        .set TRAP_FLAG, 0x100

        .local  called, left, own_stack, first_rax, vector_level
        .comm   called, 8, 8
        .comm   left, 8, 8
        .comm   own_stack, 8, 8
        .comm   first_rax, 8, 8
        .comm   vector_level, 4, 4

        .text

/*
 * void stitchgcm_test_call(void (*function)(void), const CpuState *before, CpuState *after, int vector_level)
 *
 * Loads all registers from *before, rsp and flags included, calls, and stores them to *after as the function left them.
 * vector_level: 0 only xmm0-15, 1 ymm0-15, 2 zmm0-31 and k0-7. With the trap flag in before->flags each instruction
 * raises SIGTRAP, from the load of the registers until they are stored.
 */
        .globl  stitchgcm_test_call
        .hidden stitchgcm_test_call
        .type   stitchgcm_test_call, @function
        .p2align 4
stitchgcm_test_call:
        endbr64
        push    rbx
        push    rbp
        push    r12
        push    r13
        push    r14
        push    r15
        sub     rsp, SAVED_BYTES
        stmxcsr [rsp]
        fnstcw  [rsp + 4]
        mov     [rip + called], rdi
        mov     [rip + left], rdx
        mov     [rip + vector_level], ecx
        mov     [rip + own_stack], rsp

        fldcw   [rsi + AT_X87_CONTROL]
        ldmxcsr [rsi + AT_MXCSR]
        cmp     ecx, 1
        je      .Lload_ymm
        ja      .Lload_zmm
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        movups  xmm\n, [rsi + AT_VECTOR + 64 * \n]
        .endr
        jmp     .Lload_general
.Lload_zmm:
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        vmovdqu64 zmm\n, [rsi + AT_VECTOR + 64 * \n]
        .endr
        .irp    n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        vmovdqu64 zmm\n, [rsi + AT_VECTOR + 64 * \n]
        .endr
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        kmovq   k\n, [rsi + AT_MASK + 8 * \n]
        .endr
        jmp     .Lload_general
.Lload_ymm:
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        vmovdqu ymm\n, [rsi + AT_VECTOR + 64 * \n]
        .endr
.Lload_general:
        mov     rsp, [rsi + AT_RSP]
        push    qword ptr [rsi + AT_FLAGS]
        mov     rax, [rsi + AT_GENERAL]
        mov     rcx, [rsi + AT_GENERAL + 1 * 8]
        mov     rdx, [rsi + AT_GENERAL + 2 * 8]
        mov     rbx, [rsi + AT_GENERAL + 3 * 8]
        mov     rbp, [rsi + AT_GENERAL + 5 * 8]
        mov     rdi, [rsi + AT_GENERAL + 7 * 8]
        mov     r8, [rsi + AT_GENERAL + 8 * 8]
        mov     r9, [rsi + AT_GENERAL + 9 * 8]
        mov     r10, [rsi + AT_GENERAL + 10 * 8]
        mov     r11, [rsi + AT_GENERAL + 11 * 8]
        mov     r12, [rsi + AT_GENERAL + 12 * 8]
        mov     r13, [rsi + AT_GENERAL + 13 * 8]
        mov     r14, [rsi + AT_GENERAL + 14 * 8]
        mov     r15, [rsi + AT_GENERAL + 15 * 8]
        mov     rsi, [rsi + AT_GENERAL + 6 * 8]
        popfq
        call    [rip + called]

        mov     [rip + first_rax], rax
        mov     rax, [rip + left]
        mov     [rax + AT_GENERAL + 1 * 8], rcx
        mov     [rax + AT_GENERAL + 2 * 8], rdx
        mov     [rax + AT_GENERAL + 3 * 8], rbx
        mov     [rax + AT_RSP], rsp
        mov     [rax + AT_GENERAL + 5 * 8], rbp
        mov     [rax + AT_GENERAL + 6 * 8], rsi
        mov     [rax + AT_GENERAL + 7 * 8], rdi
        mov     [rax + AT_GENERAL + 8 * 8], r8
        mov     [rax + AT_GENERAL + 9 * 8], r9
        mov     [rax + AT_GENERAL + 10 * 8], r10
        mov     [rax + AT_GENERAL + 11 * 8], r11
        mov     [rax + AT_GENERAL + 12 * 8], r12
        mov     [rax + AT_GENERAL + 13 * 8], r13
        mov     [rax + AT_GENERAL + 14 * 8], r14
        mov     [rax + AT_GENERAL + 15 * 8], r15
        mov     rcx, [rip + first_rax]
        mov     [rax + AT_GENERAL], rcx
        mov     rsp, [rip + own_stack]
        pushfq
        mov     rcx, [rsp]
        and     qword ptr [rsp], ~TRAP_FLAG
        popfq
        mov     [rax + AT_FLAGS], rcx
        cld

        cmp     dword ptr [rip + vector_level], 1
        je      .Lstore_ymm
        ja      .Lstore_zmm
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        movups  [rax + AT_VECTOR + 64 * \n], xmm\n
        .endr
        jmp     .Lstore_control
.Lstore_zmm:
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        vmovdqu64 [rax + AT_VECTOR + 64 * \n], zmm\n
        .endr
        .irp    n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        vmovdqu64 [rax + AT_VECTOR + 64 * \n], zmm\n
        .endr
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        kmovq   [rax + AT_MASK + 8 * \n], k\n
        .endr
        vzeroupper
        jmp     .Lstore_control
.Lstore_ymm:
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        vmovdqu [rax + AT_VECTOR + 64 * \n], ymm\n
        .endr
        vzeroupper
.Lstore_control:
        stmxcsr [rax + AT_MXCSR]
        fnstcw  [rax + AT_X87_CONTROL]
        fnstenv [rsp + 8]
        mov     cx, [rsp + 8 + 8]
        mov     [rax + AT_X87_TAGS], cx
        fninit
        fldcw   [rsp + 4]
        ldmxcsr [rsp]
        add     rsp, SAVED_BYTES
        pop     r15
        pop     r14
        pop     r13
        pop     r12
        pop     rbp
        pop     rbx
        ret
        .size   stitchgcm_test_call, . - stitchgcm_test_call

/* The controls: each does one thing that no routine may do, or (the first two) only what every routine may. */
        .macro  CONTROL name
        .globl  stitchgcm_test_\name
        .hidden stitchgcm_test_\name
        .type   stitchgcm_test_\name, @function
        .p2align 4
stitchgcm_test_\name:
        endbr64
        .endm

        .macro  END name
        .size   stitchgcm_test_\name, . - stitchgcm_test_\name
        .endm

        CONTROL does_nothing
        ret
        END     does_nothing

        CONTROL clobbers_scratch
        xor     eax, eax
        xor     ecx, ecx
        xor     edx, edx
        xor     esi, esi
        xor     edi, edi
        xor     r8d, r8d
        xor     r9d, r9d
        xor     r10d, r10d
        xor     r11d, r11d
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        pxor    xmm\n, xmm\n
        .endr
        ret
        END     clobbers_scratch

        .irp    saved, rbx, rbp, r12, r13, r14, r15
        CONTROL clobbers_\saved
        xor     \saved, 1
        ret
        END     clobbers_\saved
        .endr

        CONTROL pops_too_much
        ret     16
        END     pops_too_much

        CONTROL sets_direction
        std
        ret
        END     sets_direction

        CONTROL changes_mxcsr
        stmxcsr [rsp - 8]
        xor     dword ptr [rsp - 8], 0x8000
        ldmxcsr [rsp - 8]
        ret
        END     changes_mxcsr

        CONTROL changes_x87_control
        fnstcw  [rsp - 8]
        xor     word ptr [rsp - 8], 0x0300
        fldcw   [rsp - 8]
        ret
        END     changes_x87_control

        CONTROL leaves_x87_value
        fld1
        ret
        END     leaves_x87_value

        CONTROL writes_above_its_frame
        mov     byte ptr [rsp + 8], 0
        ret
        END     writes_above_its_frame

        CONTROL dirties_ymm7
        vpcmpeqd xmm7, xmm7, xmm7
        vinsertf128 ymm7, ymm7, xmm7, 1
        ret
        END     dirties_ymm7

/* Left behind: 8 bytes of what rdi points to, in each kind of place. */
        CONTROL leaks_to_vector
        movq    xmm9, [rdi]
        ret
        END     leaks_to_vector

        CONTROL leaks_to_high_vector
        movhps  xmm3, [rdi]
        ret
        END     leaks_to_high_vector

        CONTROL leaks_to_integer
        mov     r10, [rdi]
        ret
        END     leaks_to_integer

        CONTROL leaks_to_red_zone
        mov     rax, [rdi]
        mov     [rsp - 11], rax
        xor     eax, eax
        ret
        END     leaks_to_red_zone

        CONTROL leaks_to_deep_stack
        mov     rax, [rdi]
        mov     [rsp - 4000], rax
        xor     eax, eax
        ret
        END     leaks_to_deep_stack

/* uint64_t(void): 1, if what it put rsp - 128 (the red zone's last word) or rsp - 136 (beyond it) is still there. */
        CONTROL keeps_in_red_zone
        mov     qword ptr [rsp - 128], 1
        nop
        nop
        mov     rax, [rsp - 128]
        ret
        END     keeps_in_red_zone

        CONTROL keeps_below_red_zone
        mov     qword ptr [rsp - 136], 1
        nop
        nop
        mov     rax, [rsp - 136]
        ret
        END     keeps_below_red_zone

        .section .note.gnu.property, "a", @note
        .p2align 3
        .long   4, 16, 5
        .asciz  "GNU"
        .long   0xc0000002, 4, 3, 0

        .section .note.GNU-stack, "", @progbits
#endif
